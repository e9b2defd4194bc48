# SPDX-License-Identifier: GPL-2.0
"""The report in a browser: what it draws, and that it needs nothing else."""

import collections
import io
import json
import os
import pathlib
import re
import tempfile
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

import page
import trace_file
from tests import random_trace

DRIVER = "/usr/bin/chromedriver"
# A place for people to look at what the test has seen
SCREENSHOT = os.environ.get("TDMA_SCREENSHOT")


def start_browser():
    """A browser without a window and without a network."""
    options = Options()
    for word in ("--headless=new", "--disable-gpu", "--hide-scrollbars",
                 "--window-size=1500,1600", "--disable-dev-shm-usage",
                 "--disable-background-networking",
                 "--host-resolver-rules=MAP * ~NOTFOUND"):
        options.add_argument(word)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(DRIVER), options=options)


def text_of(*traces):
    """The page."""
    output = io.StringIO()
    page.write(traces, output)
    return output.getvalue()


class Text(unittest.TestCase):
    """The page as a text."""

    def test_self_contained(self):
        """Nothing is fetched, and nothing could be."""
        text = text_of(random_trace.trace(1))
        self.assertIn("default-src 'none'", text)
        self.assertEqual(re.findall(r"<(?:script|img|iframe)[^>]*\ssrc", text),
                         [])
        self.assertEqual(re.findall(r"<link[^>]*href=\"(?!data:,)", text), [])

    def test_columns(self):
        """Large numbers do not lose their upper half."""
        self.assertEqual(page.column([1, 2 ** 32 - 1])["type"], "Uint32Array")
        self.assertEqual(page.column([2 ** 32])["type"], "Float64Array")
        self.assertEqual(page.column([])["data"], "")

    def test_stalls_joined(self):
        """Neighbours of the same cause are one; others are not."""
        for seed in range(10):
            trace = random_trace.trace(seed)
            for side in trace_file.SIDES:
                cycles = [(cause, cycle + i)
                          for cause, cycle, n in page.stalls(trace, side)
                          for i in range(n)]
                expected = [(trace_file.CAUSES.index(cause), cycle + i)
                            for s, cause, cycle, n in trace["stalls"].rows(
                                "side", "cause", "cycle", "cycles")
                            if s == side for i in range(n)]
                self.assertEqual(sorted(cycles), sorted(expected), seed)


class Browser(unittest.TestCase):
    """The page in Chromium."""

    @classmethod
    def setUpClass(cls):
        if not os.path.exists(DRIVER):
            raise unittest.SkipTest("chromium-driver is not installed")
        cls.browser = start_browser()
        cls.addClassCleanup(cls.browser.quit)
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)

    def open(self, *traces):
        """Show the report of these traces."""
        path = pathlib.Path(self.directory.name, "report.html")
        path.write_text(text_of(*traces), encoding="utf-8")
        self.browser.get(path.as_uri())

    def drawn(self):
        """How many marks each picture has, run after run."""
        pictures = collections.defaultdict(list)
        for entry in self.browser.execute_script("return report.drawn()"):
            pictures[entry["picture"]].append(entry["marks"])
        return pictures

    def complaints(self):
        """What the browser's console says."""
        return self.browser.get_log("browser")

    def is_painted(self, name):
        """Has the canvas of a picture anything on it?"""
        return self.browser.execute_script("""
            const canvas = document.querySelector(
              `canvas[data-picture="${arguments[0]}"]`);
            const data = canvas.getContext("2d").getImageData(
              0, 0, canvas.width, canvas.height).data;
            return data.some(value => value);""", name)

    def check_marks(self, i, trace, drawn):
        """Every request and stall of run @i is a mark."""
        sides = [trace["requests"]["side"].count(s) for s in trace_file.SIDES]
        stalls = sum(len(page.stalls(trace, s)) for s in trace_file.SIDES)
        self.assertEqual(drawn["lanes"][i], sum(sides) + stalls)
        self.assertEqual(drawn["addresses-src"][i], sides[0])
        self.assertEqual(drawn["addresses-dst"][i], sides[1])
        self.assertEqual(drawn["progress"][i],
                         len(trace["commits"]) + len(trace["sync"]))

    def test_one(self):
        """A mark for each request, stall, commit and update."""
        for seed in range(4):
            trace = random_trace.trace(seed)
            self.open(trace)
            drawn = self.drawn()
            self.check_marks(0, trace, drawn)
            for name in drawn:
                self.assertTrue(self.is_painted(name), name)
            self.assertEqual(self.complaints(), [])

    def test_two(self):
        """Two runs stand side by side, with what is different about them."""
        traces = random_trace.trace(5), random_trace.trace(6)
        self.open(*traces)
        drawn = self.drawn()
        for i, trace in enumerate(traces):
            self.check_marks(i, trace, drawn)
        sections = self.browser.find_elements(By.TAG_NAME, "section")
        self.assertEqual(len(sections), 2)
        self.assertEqual(sections[0].rect["y"], sections[1].rect["y"])
        self.assertEqual(
            [row.text for row in sections[0].find_elements(
                By.CSS_SELECTOR, ".differing tr td:first-child")],
            ["lanes", "ids"])
        self.assertEqual(self.complaints(), [])
        if SCREENSHOT:
            self.browser.save_screenshot(SCREENSHOT)

    def test_nothing_is_wider_than_the_page(self):
        """No scrolling to the side, in a narrow window either."""
        self.open(random_trace.trace(5), random_trace.trace(6))
        for width in (800, 1500):
            self.browser.set_window_size(width, 1600)
            # the page hears of its new size later
            WebDriverWait(self.browser, 20).until(
                lambda browser: browser.execute_script(
                    "return document.documentElement.scrollWidth") <= width,
                "wider than %d" % width)

    def test_hover(self):
        """Whatever the mouse is over tells what it is."""
        trace = random_trace.trace(8)
        self.open(trace)
        overlay = self.browser.find_elements(By.CSS_SELECTOR, ".overlay")[0]
        x = self.browser.execute_script(
            "return view.charts[0].x(report.runs[0].requests.issue["
            "report.runs[0].requests.lanes[0][0]] + 0.5)")
        width, height = overlay.size["width"], overlay.size["height"]
        ActionChains(self.browser).move_to_element_with_offset(
            overlay, round(x - width / 2), round(5 - height / 2)).perform()
        tip = self.browser.find_element(By.ID, "tip").text
        first = next(i for i, (side, lane) in enumerate(
            trace["requests"].rows("side", "lane"))
            if (side, lane) == ("src", 0))
        self.assertIn("element %d\n" % trace["requests"]["element"][first],
                      tip)
        self.assertIn("source lane 0", tip)

    def test_zoom(self):
        """The wheel makes all pictures show the same, smaller part."""
        self.open(random_trace.trace(9, 30))
        before = self.drawn()
        overlay = self.browser.find_elements(By.CSS_SELECTOR, ".overlay")[0]
        self.browser.execute_script("""
            const box = arguments[0].getBoundingClientRect();
            arguments[0].dispatchEvent(new WheelEvent("wheel", {
              deltaY: -400, clientX: box.left + box.width / 2,
              clientY: box.top + 5, bubbles: true, cancelable: true}));
            drawAll();""", overlay)
        after = self.drawn()
        for name in ("lanes", "addresses-src", "addresses-dst"):
            self.assertLess(after[name][0], before[name][0])
            self.assertGreater(after[name][0], 0)
        domains = self.browser.execute_script(
            "return view.charts.map(chart => chart.x.domain().join())")
        self.assertEqual(len(set(domains)), 1)
        middle = sum(float(n) for n in domains[0].split(",")) / 2
        cycles = self.browser.execute_script("return view.cycles")
        self.assertAlmostEqual(middle, cycles / 2, delta=cycles / 50)
        self.assertEqual(self.complaints(), [])

    def test_more_than_can_be_shown(self):
        """What is left out is said, and curves are of all."""
        trace = random_trace.trace(10)
        whole, page.DETAIL = page.DETAIL, 20
        self.addCleanup(setattr, page, "DETAIL", whole)
        self.open(trace)
        text = self.browser.find_element(By.TAG_NAME, "main").text
        self.assertIn("20 of %d" % len(trace["requests"]), text)
        self.assertEqual(sum(self.drawn()["addresses-src"] +
                             self.drawn()["addresses-dst"]), 20)

    def test_dropped(self):
        """A trace with a limit says so."""
        document = random_trace.document(11)
        document["dropped"] = 1234
        self.open(trace_file.parse(json.dumps(document)))
        self.assertIn("1,234 requests were left out",
                      self.browser.find_element(By.TAG_NAME, "main").text)

    def test_hostile_text(self):
        """Titles and names are text, whatever is in them."""
        evil = "</script><script>document.title='gone'</script><img src=x " \
            "onerror=\"document.title='gone'\">"
        document = random_trace.document(12)
        document["title"] = evil
        document["memory"][0]["name"] = evil
        document["descriptors"][0]["opcode"] = evil
        document["machine"]["properties"]["seed"] = evil
        for row in document["requests"]["rows"][:5]:
            row[4] = evil
        self.open(trace_file.parse(json.dumps(document)))
        self.assertNotEqual(self.browser.title, "gone")
        self.assertEqual(
            self.browser.find_element(By.TAG_NAME, "h1").text, evil)
        self.assertEqual(self.complaints(), [])

    def test_without_requests(self):
        """What the fast engine leaves has a page, too."""
        document = random_trace.document(13)
        for name in trace_file.TABLES:
            document[name]["rows"] = []
        document["machine"]["fidelity"] = "fast"
        self.open(trace_file.parse(json.dumps(document)))
        self.assertIn("fidelity is fast",
                      self.browser.find_element(By.TAG_NAME, "main").text)
        self.assertEqual(self.complaints(), [])
