import { readFileSync } from 'node:fs'
import type { CDPSession, Page } from 'puppeteer-core'
import t from 'tap'
import { DESKTOP, PHONE, reach, signIn, startBrowser } from '../browser/browser.ts'
import { ACCOUNT, withLargeLibrary } from '../browser/large-library.ts'
import { listChildren } from '../e2e/server.ts'

// Scrolls a library with covers for an hour, as a person does who looks for a game: down, to the end, by letter, into a
// game and back, through filters and other widths. Nothing of the page and of the server may grow.

const SECONDS = Number(process.env.SOAK_SECONDS ?? 3_600)
const LIBRARY = { roms: 20_000, covers: 10_000 }
/** Pixels between two frames, which passes about 900 covers in a round. */
const STEP = 90
const PIXELS = 40_000
const PART = 4_000
/** The first rounds fill caches. */
const WARM_SHARE = 0.2
const HEAP_MAX_MIB = 2
/** Two rows of covers, because a row that left the page may still be in memory when a round ends. */
const NODES_MAX = 1_000
const LISTENERS_MAX = 150
/** Garbage of a web worker, which its collector leaves for a while. */
const SERVER_MAX_MIB = 48

interface Sample { seconds: number, heap: number, nodes: number, listeners: number, server: number }

function readMemory (pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

async function scrollPart (page: Page, from: number, to: number): Promise<void> {
  await page.evaluate(async (from, to, step) => {
    const grid = document.querySelector('.grid')
    for (let top = from; from < to ? top < to : top > to; top += from < to ? step : -step) {
      if (grid !== null) grid.scrollTop = top
      await new Promise((resolve) => { requestAnimationFrame(resolve) })
    }
  }, from, to, STEP)
}

/** Scrolls in parts, because puppeteer waits a limited time for each, and a busy machine draws few frames a second. */
async function scroll (page: Page, from: number, to: number): Promise<void> {
  const part = from < to ? PART : -PART
  for (let top = from; Math.abs(to - top) > 0; top = Math.abs(to - top) <= PART ? to : top + part) {
    await scrollPart(page, top, Math.abs(to - top) <= PART ? to : top + part)
  }
}

/** Waits for an element without a handle, which would keep the element in memory. */
async function see (page: Page, selector: string): Promise<void> {
  const handle = await page.waitForSelector(selector)
  await handle?.dispose()
}

const seeGames = (page: Page) => see(page, '.grid .game-name')

/** Opens the chosen game by Enter and returns by the browser's history. */
async function visitGame (page: Page): Promise<void> {
  await page.focus('.grid')
  await page.keyboard.press('Enter')
  await see(page, '.rom-head h1')
  await page.goBack()
  await seeGames(page)
}

async function takeRound (page: Page, round: number): Promise<void> {
  await scroll(page, 0, PIXELS)
  await scroll(page, PIXELS, 0)
  await page.focus('.grid')
  for (const key of ['End', 'PageUp', 'Home', 'm', 'PageDown'] as const) {
    await page.keyboard.press(key)
    await seeGames(page)
  }
  await visitGame(page)
  await page.setViewport(round % 2 === 0 ? PHONE : DESKTOP)
  await scroll(page, 0, PIXELS / 10)
  await page.setViewport(DESKTOP)
  await reach(page, 'Home')
  await page.keyboard.press('Enter')
  await see(page, '.shelf')
  await page.goBack()
  await seeGames(page)
}

/** Counts what is left after a garbage collection. */
async function measure (page: Page, session: CDPSession, pid: number): Promise<Omit<Sample, 'seconds'>> {
  await session.send('HeapProfiler.collectGarbage')
  const { JSHeapUsedSize = NaN, Nodes = NaN, JSEventListeners = NaN } = await page.metrics()
  return { heap: JSHeapUsedSize / 2 ** 20, nodes: Nodes, listeners: JSEventListeners, server: readMemory(pid) }
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

t.test('an hour of scrolling leaves nothing in the page and the server', {
  skip: process.platform !== 'linux' && 'memory is read from /proc'
}, async (t) => {
  const browser = await startBrowser()
  if (browser === null) return t.comment('Chromium does not run on this machine')
  t.teardown(() => browser.close())
  const samples: Sample[] = []
  await withLargeLibrary(LIBRARY, async ({ url, pid }) => {
    const [web = 0] = await listChildren(pid, 'web')
    const page = await browser.newPage()
    await page.setViewport(DESKTOP)
    await page.goto(url)
    await signIn(page, ACCOUNT.SVC_ADMIN_USERNAME, ACCOUNT.SVC_ADMIN_PASSWORD)
    await page.goto(`${url}/roms`)
    await seeGames(page)
    const session = await page.createCDPSession()
    const started = performance.now()
    const secondsNow = () => (performance.now() - started) / 1_000
    for (let round = 0; secondsNow() < SECONDS; round++) {
      await takeRound(page, round)
      const sample = { seconds: Math.round(secondsNow()), ...await measure(page, session, web) }
      samples.push(sample)
      t.comment(`round ${round + 1}: ${JSON.stringify(sample)}`)
    }
  })

  const warm = samples.slice(Math.ceil(samples.length * WARM_SHARE))
  const part = Math.max(1, Math.ceil(warm.length / 4))
  const growthOf = (name: keyof Sample) =>
    median(warm.slice(-part).map((one) => one[name])) - median(warm.slice(0, part).map((one) => one[name]))
  const limits = { heap: HEAP_MAX_MIB, nodes: NODES_MAX, listeners: LISTENERS_MAX, server: SERVER_MAX_MIB } as const
  t.comment(`${samples.length} rounds, first ${JSON.stringify(samples[0])}, last ${JSON.stringify(samples.at(-1))}`)
  for (const name of ['heap', 'nodes', 'listeners', 'server'] as const) {
    t.ok(samples.length > 1 && growthOf(name) <= limits[name], `${name} grows by ${growthOf(name).toFixed(2)} of ${limits[name]} at most`)
  }
})
