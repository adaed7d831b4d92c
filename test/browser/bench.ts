import type { Browser, Page } from 'puppeteer-core'
import { CACHE_DIR, SHIPPED_DIR, findBundle } from '../../plugins/console/bundle/bundle.ts'
import { measureBundle } from '../../plugins/console/bundle/make-bundle.ts'
import { type BenchOptions, createBench } from '../bench/options.ts'
import { type Measurement, type Target, report } from '../bench/report.ts'
import { DESKTOP, signIn, startBrowser } from './browser.ts'
import { ACCOUNT, withLargeLibrary } from './large-library.ts'

/** Measures the web pages in a headless Chromium, on a real server with many ROMs, of which the first have covers. */
const SCROLLED = 5_000
const ROUNDS = 10
const FIRST_MAX_BYTES = 120_000

interface Options extends BenchOptions { roms: string }
const options = createBench('console', 'measures the web pages in a browser')
  .option('--roms <number>', 'the number of ROMs; a million takes a minute to make', '200000').parse().opts<Options>()
const roms = Number(options.roms)

/** Waits for the first game of the library and returns the time since the page was opened. */
async function timeLibrary (page: Page, url: string): Promise<number> {
  await page.goto(`${url}/roms`)
  await page.waitForSelector('.grid .game-name', { timeout: 120_000 })
  return await page.evaluate(() => performance.now())
}

/** Returns when the largest element of a page is painted that the browser opens for the first time. */
async function timePaint (browser: Browser, url: string): Promise<number> {
  const context = await browser.createBrowserContext()
  const page = await context.newPage()
  await page.goto(url)
  await page.waitForSelector('form')
  const paint = await page.evaluate(() => new Promise<number>((resolve) => {
    const observer = new PerformanceObserver((list) => { resolve(list.getEntries().at(-1)?.startTime ?? NaN) })
    // The types of Node know no paints.
    observer.observe({ type: 'largest-contentful-paint' as 'resource', buffered: true })
  }))
  await context.close()
  return paint
}

/** Jumps to the last ROM. @returns milliseconds until it is shown, and those of them that the server took */
async function timeJump (page: Page): Promise<{ shown: number, server: number }> {
  await page.focus('.grid')
  const shown = await page.evaluate(async () => {
    const started = performance.now()
    document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'End', bubbles: true, cancelable: true }))
    const isShown = () => document.querySelector('.grid [data-active] .game-name') !== null
    // The first frame still shows the former ROM.
    do await new Promise((resolve) => { requestAnimationFrame(resolve) }); while (!isShown())
    return performance.now() - started
  })
  const server = await page.evaluate(() => {
    const last = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/api/roms?')).at(-1)
    return last instanceof PerformanceResourceTiming ? last.responseEnd - last.requestStart : 0
  })
  return { shown, server }
}

/** Scrolls past a number of covers, and returns the frames in a second. */
async function countFrames (page: Page, covers: number): Promise<number> {
  await page.focus('.grid')
  await page.keyboard.press('Home')
  return await page.evaluate(async (count) => {
    const grid = document.querySelector('.grid')
    const row = document.querySelector<HTMLElement>('.grid-row')
    if (grid === null || row === null) return 0
    const height = count / row.childElementCount * row.offsetHeight
    const started = performance.now()
    let frames = 0
    for (let top = 0; top < height; top += 120) {
      grid.scrollTop = top
      await new Promise((resolve) => { requestAnimationFrame(resolve) })
      frames++
    }
    return frames / (performance.now() - started) * 1_000
  }, covers)
}

async function readHeap (page: Page): Promise<number> {
  const session = await page.createCDPSession()
  await session.send('HeapProfiler.collectGarbage')
  await session.detach()
  return ((await page.metrics()).JSHeapUsedSize ?? NaN) / 2 ** 20
}

interface Results { figures: Measurement['figures'], targets: Target[] }

async function measurePages (browser: Browser, url: string): Promise<Results> {
  const paint = await timePaint(browser, url)
  const page = await browser.newPage()
  await page.setViewport(DESKTOP)
  await page.goto(url)
  await signIn(page, ACCOUNT.SVC_ADMIN_USERNAME, ACCOUNT.SVC_ADMIN_PASSWORD)
  const first = await timeLibrary(page, url)
  const again = await timeLibrary(page, url)
  const jump = await timeJump(page)
  // Browsers keep 250 entries unless told otherwise.
  await page.evaluate(() => { performance.setResourceTimingBufferSize(20_000) })
  const frames = await countFrames(page, SCROLLED)
  const pictures = await page.evaluate(() => performance.getEntriesByType('resource').filter(({ name }) => name.includes('/cover/')).length)
  const before = await readHeap(page)
  for (let round = 0; round < ROUNDS; round++) await countFrames(page, SCROLLED / 5)
  const growth = await readHeap(page) - before
  return {
    figures: { 'first library page, empty caches of the server, ms': first, 'server time of the jump, ms': jump.server, 'heap, MiB': before, 'covers that were loaded': pictures },
    targets: [
      { what: 'largest contentful paint, empty cache of the browser', is: paint, most: 1_000, unit: ' ms' },
      { what: `library of ${roms} ROMs shows games`, is: again, most: 1_500, unit: ' ms' },
      { what: 'jump to the last ROM besides the server', is: jump.shown - jump.server, most: 500, unit: ' ms' },
      { what: `frames a second while ${SCROLLED} covers scroll`, is: frames, least: 50 },
      { what: `growth of the heap after ${ROUNDS} more rounds`, is: growth, most: 5, unit: ' MiB' }
    ]
  }
}

async function measureSizes (): Promise<Target> {
  const found = await findBundle([SHIPPED_DIR, CACHE_DIR])
  if (found === null) throw new Error('The server made no bundle')
  const { bundle: { entry, styles, preloads } } = found
  const sizes = await measureBundle(found.bundle)
  const first = sizes.filter(({ file }) => [entry, styles, ...preloads].includes(file))
  const is = first.reduce((sum, { compressed }) => sum + compressed, 0)
  return { what: 'script and style of the first page', is, most: FIRST_MAX_BYTES, unit: ' bytes' }
}

const browser = await startBrowser()
if (browser === null) {
  report({ name: 'console', figures: {}, targets: [], notes: ['Chromium does not run on this machine'] }, options)
} else {
  const measure = ({ url }: { url: string }) => measurePages(browser, url)
  const library = { roms, covers: SCROLLED * 2 }
  const { figures, targets } = await withLargeLibrary(library, measure).finally(() => browser.close())
  report({ name: 'console', figures, targets: [await measureSizes(), ...targets], notes: [] }, options)
}
