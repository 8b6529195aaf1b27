// Opens a report in headless Chromium at three widths, in light and dark, and fails on anything a reader would meet:
// messages in the console, requests to the network, a page wider than its window, text too small to read.
//
//   npm install --no-save puppeteer-core @sparticuz/chromium
//   node tests/browser/report.mjs docs/sample-report/index.html [folder for pictures]
import {resolve} from 'node:path';
import puppeteer from 'puppeteer-core';

const [, , page, pictures] = process.argv;
const launch = process.env.CHROMIUM
  ? {executablePath: process.env.CHROMIUM, args: ['--no-sandbox']}
  : await import('@sparticuz/chromium').then(async ({default: chromium}) => (
    {executablePath: await chromium.executablePath(), args: chromium.args}));
const browser = await puppeteer.launch({...launch, headless: 'shell'});
console.log(await browser.version());

const SMALLEST = 8;  // CSS pixels of the height of a word in a figure
const problems = [];
for (const width of [360, 768, 1280]) {
  for (const scheme of ['light', 'dark']) {
    const tab = await browser.newPage();
    const note = text => problems.push(`${width} ${scheme}: ${text}`);
    tab.on('console', message => ['error', 'warn'].includes(message.type()) && note(message.text()));
    tab.on('pageerror', error => note(String(error)));
    tab.on('request', request => /^(file|data):/.test(request.url()) || note(`asks for ${request.url()}`));
    await tab.setViewport({width, height: 900});
    await tab.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}]);
    await tab.goto('file://' + resolve(page), {waitUntil: 'load'});
    const seen = await tab.evaluate(() => {
      const light = colour => {
        const [r, g, b] = colour.match(/[\d.]+/g).map(x => (x / 255 <= 0.04045 ? x / 3294.6 : ((x / 255 + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const body = getComputedStyle(document.body);
      const [ink, ground] = [light(body.color), light(body.backgroundColor)];
      const quiet = document.querySelector('.quiet');
      const muted = light(getComputedStyle(quiet).color);
      const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      const words = [...document.querySelectorAll('svg text')].map(text => text.getBoundingClientRect());
      return {
        overflow: document.documentElement.scrollWidth - innerWidth,
        dark: ground < ink,
        contrast: contrast(ink, ground),
        quietContrast: contrast(muted, ground),
        smallest: Math.min(...words.filter(box => box.height).map(box => box.height)),
        figures: document.querySelectorAll('svg').length,
      };
    });
    if (seen.overflow > 0) note(`is ${seen.overflow} pixels too wide`);
    if (seen.dark !== (scheme === 'dark')) note('has the colours of the other scheme');
    if (seen.contrast < 7 || seen.quietContrast < 4.5) note(`contrast ${seen.contrast}, ${seen.quietContrast}`);
    if (seen.smallest < SMALLEST) note(`a word in a figure is ${seen.smallest} pixels high`);
    if (!seen.figures) note('shows no figure');
    console.log(width, scheme, JSON.stringify(seen));
    if (pictures) await tab.screenshot({path: `${pictures}/report-${width}-${scheme}.png`, fullPage: true});
    await tab.close();
  }
}
await browser.close();
problems.forEach(problem => console.error(problem));
process.exit(problems.length ? 1 : 0);
