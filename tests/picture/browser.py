"""A headless Chromium, as Debian has it: started once by each process of tests."""

import shutil
import tempfile
import time
from contextlib import contextmanager

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PROGRAMS = shutil.which("chromium"), shutil.which("chromedriver")
ALONE = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
)
MOST_SECONDS = 20
PHONE, LEGIBLE = 390, 9
"""How wide a phone is, and the least letters that people read on one, in pixels."""
needs_browser = pytest.mark.skipif(
    None in PROGRAMS, reason="there is no chromium with its chromedriver: no page is opened",
)


class Browser:
    """Opens pages from the disk, and says what is on them."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path):
        """Open a page, and return the seconds until it says that it is drawn."""
        self.driver.get_log("browser")
        begin = time.monotonic()
        self.driver.get(path.as_uri())
        self.wait("document.documentElement.dataset.ready === 'yes'")
        return time.monotonic() - begin

    def wait(self, condition):
        """Wait until a condition of the page holds."""
        end = time.monotonic() + MOST_SECONDS
        while not self.run(f"return {condition}"):
            assert time.monotonic() < end, (condition, self.errors())
            time.sleep(0.01)

    def run(self, script, *given):
        """Return what a script returns."""
        return self.driver.execute_script(script, *given)

    def errors(self):
        """Return what the console has been told since the page was opened."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def texts(self, selector):
        """Return the texts of elements, as they are, seen or not."""
        return self.run(
            "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
            selector,
        )

    def text(self, selector):
        (text,) = self.texts(selector)
        return text

    def press(self, *keys):
        """Press keys where the focus is."""
        named = (getattr(Keys, key) if len(key) > 1 else key for key in keys)
        self.driver.switch_to.active_element.send_keys(*named)

    def click(self, selector, x=None, y=None):
        """Click an element in its middle, or at a point of it from its upper left corner."""
        element = self.driver.find_element(By.CSS_SELECTOR, selector)
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        size = element.size
        action = webdriver.ActionChains(self.driver, duration=0)
        dx, dy = (0, 0) if x is None else (x - size["width"] // 2, y - size["height"] // 2)
        action.move_to_element_with_offset(element, dx, dy).click().perform()

    def prefer(self, scheme):
        """Let the page believe that the system is dark, or light."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def on_a_phone(self):
        """Return how wide the page is at 390 x 844, all of it open, and its least letters there.

        Both in pixels: what is wider than its box scrolls in it, and so takes no room.
        """
        screen = {"width": PHONE, "height": 844, "deviceScaleFactor": 1, "mobile": True}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        try:
            return self.run("""
                const shut = [...document.querySelectorAll("details:not([open])")];
                shut.forEach((each) => { each.open = true; });
                const letters = [...document.querySelectorAll("svg text")].map((text) => {
                  const { ownerSVGElement: svg } = text, { width } = svg.viewBox.baseVal;
                  const scale = width ? svg.getBoundingClientRect().width / width : 1;
                  return parseFloat(getComputedStyle(text).fontSize) * scale;
                }).filter((size) => size > 0);
                const wide = document.documentElement.scrollWidth;
                shut.forEach((each) => { each.open = false; });
                return [wide, Math.min(99, ...letters)];
            """)
        finally:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@contextmanager
def started():
    """Yield a browser without a profile, and end it."""
    program, driver = PROGRAMS
    options = webdriver.ChromeOptions()
    options.binary_location = program
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for word in (*ALONE, f"--user-data-dir={profile}", "--window-size=1440,1000"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        service = webdriver.ChromeService(executable_path=driver)
        browser = webdriver.Chrome(options=options, service=service)
        try:
            yield Browser(browser)
        finally:
            browser.quit()


@pytest.fixture(scope="session")
def browser():
    """The browser of all tests, which open pages one after the other."""
    with started() as found:
        yield found
