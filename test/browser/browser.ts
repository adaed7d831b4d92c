import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import chromium from '@sparticuz/chromium'
import puppeteer, { type Browser, type Page } from 'puppeteer-core'
import type { Test } from 'tap'
import type { TestApp } from '../support.ts'

/**
 * Flags for a browser as people have it, within a container. The flags of the package itself would switch off checks of
 * origins.
 */
const FLAGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--force-color-profile=srgb', '--hide-scrollbars', '--lang=en']
export const DESKTOP = { width: 1_440, height: 900 }
/** Without touch, because Chromium loads a page again when touch begins. */
export const PHONE = { width: 390, height: 844 }
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')
/**
 * Options of axe. By default axe describes each element that passes a rule, which takes most of the time, and loads the
 * stylesheets again for a rule that is off.
 */
const CHECKS = { resultTypes: ['violations'], preload: { assets: ['media'] } }
/** Only rules about colours, because a dark page has the elements of a light one. */
const COLOUR_CHECKS = { ...CHECKS, runOnly: ['color-contrast', 'link-in-text-block'] }
const LOOKS = [['light', DESKTOP, 'light', CHECKS], ['dark', DESKTOP, 'dark', COLOUR_CHECKS], ['phone', PHONE, 'light', CHECKS]] as const
/** Chromium reports these as errors. Pages expect them: nobody is signed in yet, or a test cut the network off. */
const EXPECTED = /^Failed to load resource: (the server responded with a status of 40[13]|net::ERR_INTERNET_DISCONNECTED)/

/** Starts a headless Chromium. @returns null on a machine for which the package has no program */
export async function startBrowser (): Promise<Browser | null> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return null
  const executablePath = await chromium.executablePath()
  try {
    return await puppeteer.launch({ executablePath, args: FLAGS, headless: 'shell' })
  } catch (err) {
    // musl has no loader for a program of glibc.
    if (String(err).includes('ENOENT')) return null
    throw err
  }
}

/** Fills the field with a label. */
const fill = (page: Page, label: string, value: string) => page.locator(`input::-p-aria([name="${label}"])`).fill(value)
/** Clicks the control with a name, as screen readers announce it. */
const click = (page: Page, name: string) => page.locator(`::-p-aria([name="${name}"])`).click()

/**
 * Waits for a text within elements that a selector finds. It looks at each frame, because puppeteer's `::-p-text`
 * only looks after changes of elements and attributes, and misses a text that changes alone.
 */
export async function see (page: Page, text: string, selector = 'body'): Promise<void> {
  await page.waitForFunction((wanted, within) => [...document.querySelectorAll<HTMLElement>(within)]
    .some(({ innerText }) => innerText.includes(wanted)), {}, text, selector)
}

/** Waits for a picture that has arrived within elements that a selector finds. */
export async function seePicture (page: Page, selector: string): Promise<void> {
  await page.waitForFunction(`[...document.querySelectorAll(${JSON.stringify(`${selector} img`)})]
    .some(({ complete, naturalWidth }) => complete && naturalWidth > 0)`)
}

/** The stops of Tab after which a control counts as unreachable. */
const STOPS_MAX = 80

/** Returns the name of a control as people read it. It runs within pages. */
const NAME_OF = `((control) => (control.getAttribute('aria-label') ?? control.labels?.[0]?.innerText ?? control.innerText)
  .replaceAll(/\\s+/g, ' ').trim())`
/** Returns the control with the focus: its name, and whether people see that it has the focus. */
const READ_FOCUS = `(() => {
  const { activeElement: control } = document
  const isRinged = (part) => {
    const { outlineStyle, boxShadow } = getComputedStyle(part)
    return outlineStyle !== 'none' || (part.matches('input, select, textarea') && boxShadow !== 'none')
  }
  return control === document.body
    ? { name: '', isSeen: false }
    : { name: ${NAME_OF}(control), isSeen: control.checkVisibility() && [control, ...control.querySelectorAll('*')].some(isRinged) }
})()`

/**
 * Moves the focus by Tab to the first control whose name begins with a text. The search begins where the focus is.
 * Fails if Tab does not get there, or if nobody would see the focus.
 */
export async function reach (page: Page, name: string): Promise<void> {
  await page.waitForFunction(`[...document.querySelectorAll('a, button, summary, input, [tabindex]')]
    .some((control) => control.checkVisibility() && ${NAME_OF}(control).startsWith(${JSON.stringify(name)}))`)
  const passed: string[] = []
  for (let stops = 0; stops < STOPS_MAX; stops++) {
    const focus = await page.evaluate(READ_FOCUS) as { name: string, isSeen: boolean }
    if (focus.name.startsWith(name)) {
      if (focus.isSeen) return
      throw new Error(`Nobody sees that “${focus.name}” has the focus`)
    }
    passed.push(focus.name)
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach “${name}”, only: ${passed.join(' | ')}`)
}

/** Moves the focus by Tab to the control whose name begins with a text, and presses a key there. */
export async function pressOn (page: Page, name: string, key: 'Enter' | 'Space' = 'Enter'): Promise<void> {
  await reach(page, name)
  await page.keyboard.press(key)
}

/** Signs in on the page that asks for it. */
export async function signIn (page: Page, username: string, password: string): Promise<void> {
  await fill(page, 'Username', username)
  await fill(page, 'Password', password)
  await click(page, 'Sign in')
  await page.waitForSelector('.shell')
}

/**
 * Collects everything that a page must not do: errors, refusals by its policy, requests to other hosts, and dialogs of
 * the browser, which markup in a name would open.
 */
export function watch (page: Page, address: string, problems: string[]): void {
  page.on('dialog', (dialog) => {
    // A page that sends a file asks before it is closed.
    const isQuestion = dialog.type() === 'beforeunload'
    if (!isQuestion) problems.push(`dialog: ${dialog.message()}`)
    void (isQuestion ? dialog.accept() : dialog.dismiss())
  })
  page.on('console', (message) => {
    // A test loses the response to the request that completes an upload.
    const isExpected = EXPECTED.test(message.text()) || message.location().url?.endsWith('/complete') === true
    if (message.type() === 'error' && !isExpected) problems.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (err) => { problems.push(`error: ${String(err)}`) })
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url())
    if (!['blob:', 'data:', 'about:'].includes(protocol) && host !== new URL(address).host) problems.push(`foreign host: ${request.url()}`)
  })
}

/** Everything that scripts of a page can read: storage, cookies and the page itself. It runs within pages. */
const READABLE = `(async () => ({
  stored: JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, await indexedDB.databases(), await caches.keys()]),
  shown: document.documentElement.outerHTML
}))()`
/** Tries to write markup as a script would whose text came from outside. It runs within pages. */
const WRITE_MARKUP = `(() => {
  try {
    document.createElement('div').innerHTML = '<b>bold</b>'
    return 'written'
  } catch (err) {
    return err.name
  }
})()`

/** Checks that scripts of a page can read no session and no secret, and that Trusted Types refuse markup. */
export async function checkSecrecy (t: Test, page: Page, secrets: readonly string[]): Promise<void> {
  const { stored, shown } = await page.evaluate(READABLE) as { stored: string, shown: string }
  const sessions = (await page.browserContext().cookies()).filter(({ httpOnly }) => httpOnly).map(({ value }) => value)
  const readable = [...sessions, ...secrets].filter((secret) => stored.includes(secret))
  t.same([...readable, ...sessions.filter((session) => shown.includes(session))], [], 'scripts can read no secret')
  t.equal(await page.evaluate(WRITE_MARKUP), 'TypeError', 'scripts can write no markup')
}

/** A person with a browser in front of a real server. */
export interface Journey {
  page: Page
  /** Passwords and tokens, which no page may store. */
  secrets: string[]
  /** Opens another browser, without the session of the first. */
  openOther: () => Promise<Page>
  /** Opens a view by its path below the base URL. */
  open: (path: string) => Promise<void>
  /** Waits for a text within elements that a selector finds. */
  see: (text: string, selector?: string, page?: Page) => Promise<void>
  /** Clicks the control with a name, as screen readers announce it. */
  click: (name: string, page?: Page) => Promise<void>
  /** Moves to the control with a name by Tab, and presses it by a key. */
  press: (name: string, key?: 'Enter' | 'Space', page?: Page) => Promise<void>
  /** Fills the field with a label. */
  fill: (label: string, value: string, page?: Page) => Promise<void>
  signIn: (username: string, password: string, page?: Page) => Promise<void>
  /** Checks the page with axe: light, dark and as a phone. */
  checkAccessibility: (name: string) => Promise<void>
}

interface AxeResults { violations: { id: string, nodes: { html: string, failureSummary: string }[] }[] }

/** Runs axe on a page. DevTools load it, because the policy of the page would refuse the script. */
async function listViolations (page: Page, options: typeof CHECKS): Promise<string[]> {
  if (!await page.evaluate(() => 'axe' in globalThis)) await page.evaluate(await readFile(AXE, 'utf8'))
  return await page.evaluate(async (options) => {
    const { axe } = globalThis as unknown as { axe: { run: (options: object) => Promise<AxeResults> } }
    const { violations } = await axe.run(options)
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`))
  }, options)
}

/** Lists what axe finds on a page: light, dark and as a phone. */
export async function examine (page: Page): Promise<string[]> {
  const found: string[] = []
  for (const [look, viewport, scheme, options] of LOOKS) {
    await page.setViewport(viewport)
    // Without motion, because colours between the two would be checked otherwise.
    await page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: scheme }, { name: 'prefers-reduced-motion', value: 'reduce' }
    ])
    found.push(...(await listViolations(page, options)).map((violation) => `${look}: ${violation}`))
  }
  await page.setViewport(DESKTOP)
  return found
}

/**
 * Starts a server for browsers and a browser, takes the steps of a person, and checks what the pages did meanwhile.
 * Where no browser runs, a comment says so.
 *
 * @param path the path of the base URL
 */
export async function runJourney (t: Test, { app }: TestApp, steps: (journey: Journey) => Promise<void>, path = ''): Promise<void> {
  const browser = await startBrowser()
  if (browser === null) return t.comment('Chromium does not run on this machine')
  t.teardown(() => browser.close())
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const problems: string[] = []
  const journey = await createJourney(t, browser, `${origin}${path}`, problems)
  await steps(journey)
  t.same(problems, [], 'the pages make no errors and ask no foreign host')
  await checkSecrecy(t, journey.page, journey.secrets)
}

/** @param address the start page, without a slash at its end */
async function createJourney (t: Test, browser: Browser, address: string, problems: string[]): Promise<Journey> {
  async function openOther (): Promise<Page> {
    const page = await (await browser.createBrowserContext()).newPage()
    await page.setViewport(DESKTOP)
    watch(page, address, problems)
    await page.goto(`${address}/`)
    return page
  }
  const page = await openOther()
  const secrets: string[] = []
  return {
    page,
    secrets,
    openOther,
    click: (name, where = page) => click(where, name),
    press: (name, key = 'Enter', where = page) => pressOn(where, name, key),
    fill: (label, value, where = page) => fill(where, label, value),
    async signIn (username, password, where = page) {
      secrets.push(password)
      await signIn(where, username, password)
    },
    async open (view) {
      await page.goto(`${address}/${view}`)
    },
    see: (text, selector = 'body', where = page) => see(where, text, selector),
    checkAccessibility: async (name) => { t.same(await examine(page), [], name) }
  }
}
