import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import type { Page } from 'puppeteer-core'
import { runSvc, settings, waitUntilListening } from '../e2e/server.ts'
import { until } from '../until.ts'
import { DESKTOP, PHONE, signIn, startBrowser } from './browser.ts'
import { makeLibrary } from './library.ts'

const VIEWS = ['', 'platforms', 'platforms/snes', 'roms', 'roms/1', 'collections', 'account', 'notifications', 'nowhere']
const command = new Command('screenshots')
  .description('writes pictures of pages: light and dark, desktop and phone')
  .argument('[folder]', 'the folder of the pictures', 'screenshots')
  .argument('[view...]', 'paths of pages, such as platforms/snes', VIEWS)
  .parse()
const [folder, views] = command.processedArgs as [string, string[]]
const GAMES = 60
const ACCOUNT = { SVC_ADMIN_USERNAME: 'robin', SVC_ADMIN_PASSWORD: 'for pictures only' }
const LOOKS = [
  ['desktop-light', DESKTOP, 'light'], ['desktop-dark', DESKTOP, 'dark'], ['phone-light', PHONE, 'light'], ['phone-dark', PHONE, 'dark']
] as const

const left: (() => Promise<unknown>)[] = []
const owner = { teardown: (end: () => unknown) => { left.push(async () => { await end() }) } }

/** Starts a server with a scanned library. @returns its address */
async function startServer (): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'svc-screenshots-'))
  left.push(() => rm(home, { recursive: true, force: true }))
  await makeLibrary(join(home, 'library'), GAMES)
  const dataDir = join(home, 'data')
  const server = runSvc(owner, ['start'], settings(dataDir, { SVC_LIBRARY_DIR: join(home, 'library'), ...ACCOUNT }))
  const { url } = await waitUntilListening(server, dataDir)
  const headers = { authorization: `Basic ${Buffer.from(Object.values(ACCOUNT).join(':')).toString('base64')}` }
  await fetch(`${url}/api/tasks/scan`, {
    method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify({ apis: ['gamelist'] })
  })
  await until(async () => {
    const list = await (await fetch(`${url}/api/roms?limit=1`, { headers })).json() as { total: number }
    const running = await (await fetch(`${url}/api/tasks/status`, { headers })).json() as { status: string }[]
    return list.total === GAMES && running.every(({ status }) => !['queued', 'started', 'running'].includes(status))
  }, 'the scan', server)
  return url
}

/**
 * True if a page shows everything within the window. It runs within pages, because puppeteer counts requests for ever
 * that the next page cut off.
 */
const IS_COMPLETE = `document.querySelector('h1') !== null && document.querySelector('.skeleton') === null &&
  document.getAnimations().every(({ playState }) => playState === 'finished') &&
  [...document.images].every((image) => image.complete || image.getBoundingClientRect().top > innerHeight)`

async function takePicture (page: Page, name: string): Promise<void> {
  await page.waitForFunction(IS_COMPLETE, { timeout: 8_000 }).catch(() => { process.stdout.write(`${name} is not complete\n`) })
  await page.screenshot({ path: `${join(resolve(folder), name)}.png` })
  process.stdout.write(`${join(folder, name)}.png\n`)
}

async function takeAll (page: Page, url: string, look: string): Promise<void> {
  for (const view of views) {
    await page.goto(`${url}/${view}`)
    await takePicture(page, `${view === '' ? 'home' : view.replaceAll(/\W+/g, '-')}-${look}`)
  }
}

try {
  await mkdir(folder, { recursive: true })
  const url = await startServer()
  const browser = await startBrowser()
  if (browser === null) throw new Error('Chromium does not run on this machine')
  left.push(() => browser.close())
  const page = await browser.newPage()
  page.on('console', (message) => { if (message.type() === 'error') process.stdout.write(`console: ${message.text()}\n`) })
  for (const [look, viewport, scheme] of LOOKS) {
    await page.setViewport(viewport)
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
    if (look === 'desktop-light') {
      await page.goto(url)
      await takePicture(page, `sign-in-${look}`)
      await signIn(page, ACCOUNT.SVC_ADMIN_USERNAME, ACCOUNT.SVC_ADMIN_PASSWORD)
    }
    await takeAll(page, url, look)
  }
} finally {
  for (const end of left.toReversed()) await end()
}
