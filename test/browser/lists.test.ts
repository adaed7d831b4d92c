import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HTTPRequest } from 'puppeteer-core'
import t, { type Test } from 'tap'
import { type TestApp, buildTestApp } from '../support.ts'
import { until } from '../until.ts'
import { type Journey, reach, runJourney } from './browser.ts'
import { LIST_PROVIDER, makeLibrary } from './library.ts'

/** Scrolls the grid, and returns what became of the rows that were and stay visible. It runs within pages. */
const SCROLL = `(async () => {
  const grid = document.querySelector('.grid')
  const rows = [...grid.querySelectorAll('.grid-row')]
  const changes = []
  const observer = new MutationObserver((records) => { changes.push(...records) })
  observer.observe(grid, { subtree: true, childList: true, attributes: true })
  const drawn = new Promise((resolve) => {
    grid.addEventListener('scroll', () => { requestAnimationFrame(() => requestAnimationFrame(resolve)) }, { once: true })
  })
  grid.scrollTop = grid.scrollTop > 0 ? 0 : 200
  await drawn
  observer.disconnect()
  const kept = rows.filter(({ isConnected }) => isConnected)
  return {
    kept: kept.length > 0,
    come: changes.some(({ addedNodes }) => addedNodes.length > 0),
    changed: changes.filter(({ target, type }) => type === 'attributes' && (target.contains(kept[0]) || kept.some((row) => row.contains(target)))).length
  }
})()`
const MARKUP = '<img src=x onerror=alert(1)> & co'

t.test('lists are filtered, selected and collected by keyboard', async (t) => {
  const test = await buildTestApp(t, { worker: true, packages: LIST_PROVIDER })
  const { app, admin } = test
  await mkdir(join(test.libraryDir, 'roms', 'snes'), { recursive: true })
  await makeLibrary(test.libraryDir, 30)
  await writeFile(join(test.libraryDir, 'roms', 'snes', `${MARKUP}.sfc`), 'markup')
  await app.inject({ method: 'POST', url: '/api/tasks/run/scan_library', headers: admin })
  const countAll = async (headers: { authorization: string }) =>
    (await app.inject({ url: '/api/roms?limit=1', headers })).json<{ total: number }>().total
  await until(async () => await countAll(admin) === 31, 'the scan stores all ROMs')
  await runJourney(t, test, (journey) => takeSteps(t, test, journey))
})

/** Searches a common letter: the games are shown before the server has counted all that match. Clears the text. */
async function checkCounting (app: TestApp['app'], { page, see, checkAccessibility }: Journey, headers: { authorization: string }): Promise<void> {
  const { total } = (await app.inject({ url: '/api/roms?search_term=a&limit=1', headers })).json<{ total: number }>()
  const held: HTTPRequest[] = []
  const hold = (request: HTTPRequest) => {
    if (request.url().includes('with_total=true')) held.push(request)
    else void request.continue()
  }
  await page.setRequestInterception(true)
  page.on('request', hold)
  await page.keyboard.type('a')
  await see('Show all in the library', '.palette-all')
  page.off('request', hold)
  for (const request of held) await request.continue()
  await page.setRequestInterception(false)
  await see(`Show all ${total} games in the library`, '.palette-all')
  await checkAccessibility('search with many games')
  await page.keyboard.press('Backspace')
}

async function takeSteps (t: Test, test: TestApp, journey: Journey): Promise<void> {
  const { app, admin } = test
  const { page, open, see, press, signIn, openOther, checkAccessibility } = journey
  const type = async (...keys: string[]) => { for (const key of keys) await page.keyboard.press(key as 'Enter') }
  const total = (count: number, where = page) => see(`${count} game${count === 1 ? '' : 's'}`, '.library-title', where)
  await signIn('admin', 'a password')
  await see('Hello, admin', 'h1')
  await open('roms?order=rating')
  await see('only games that you played, rated or marked, and there are none yet', '.games-empty')
  await press('Sort by name')
  await total(31)

  // Search and filters are in the address, so a reload keeps them.
  await open('roms')
  await total(31)
  await see(MARKUP, '.game-name')
  await reach(page, 'Search in this list')
  await page.keyboard.type('a')
  await page.waitForFunction(() => location.search.includes('search=a'))
  await press('Filters')
  await press('Favourites')
  await see('Favourites', '.chip')
  await total(0)
  await type('Enter')
  await see('No favourites', '.chip')
  await press('Region')
  await press('Europe', 'Space')
  await page.waitForFunction(() => document.querySelectorAll('.chip').length === 2)
  await page.waitForSelector('.grid .game-name')
  const narrowed = '/api/roms?search_term=a&favorite=false&regions=Europe&limit=1'
  await total((await app.inject({ url: narrowed, headers: admin })).json<{ total: number }>().total)
  const before = { url: page.url(), count: await page.$eval('.library-title [role=status]', (element) => element.textContent) }
  await checkAccessibility('filters')
  await page.reload()
  await page.waitForFunction((count) => document.querySelector('.library-title [role=status]')?.textContent === count, {}, before.count)
  await press('Skip to the content')
  await page.waitForSelector('main:focus')
  t.equal(page.url(), before.url)
  t.equal(await page.$$eval('.chip', ({ length }) => length), 2)

  // Two games are selected by keys, become favourites, and get a collection whose name is full of markup.
  await open('roms')
  await total(31)
  await page.waitForSelector('.grid .game-name')
  await reach(page, 'All games')
  await type('Space')
  await page.keyboard.down('Shift')
  await type('ArrowRight')
  await page.keyboard.up('Shift')
  await see('2 selected', '.selection-count')
  await checkAccessibility('selection')
  await press('Favourite')
  await see('2 games are favourites now.', '.toast')
  // The animation of the toast moves it up.
  await page.waitForFunction(`document.querySelector('.toast').getBoundingClientRect().bottom <=
    document.querySelector('.selection-bar').getBoundingClientRect().top`)
  await page.waitForFunction(() => document.querySelectorAll('.grid [aria-label="Favourite"]').length === 2)
  await press('Add to collection')
  await page.waitForSelector('dialog[open] .collect-new input:focus')
  await page.keyboard.type(MARKUP)
  await type('Enter')
  await see(`2 games added to ${MARKUP}.`, '.toast')
  await press('End selection')
  await page.waitForSelector('.grid:focus')
  await page.waitForFunction(() => document.querySelector('.selection-bar') === null)
  await page.keyboard.down('Control')
  await type('a')
  await page.keyboard.up('Control')
  await see('31 selected', '.selection-count')
  await type('Escape')

  // A page from right to left moves the other way.
  await page.evaluate("document.documentElement.dir = 'rtl'")
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowLeft')
  await page.waitForSelector('.grid-cell[data-index="1"][data-active]')
  await page.evaluate("document.documentElement.dir = 'ltr'")

  // A gamepad moves from the tools to the grid, not to a control within it.
  await page.evaluate(`navigator.getGamepads = () => [pad]; globalThis.pad = { axes: [], buttons: [] }
    dispatchEvent(new Event('gamepadconnected'))`)
  const order = await page.waitForSelector('::-p-aria([name="Sort by"])')
  await order?.focus()
  await page.evaluate('pad.buttons[13] = { pressed: true }')
  await page.waitForFunction('document.activeElement.tagName !== "SELECT"')
  await page.evaluate('navigator.getGamepads = () => []')
  t.equal(await page.evaluate(() => document.activeElement?.getAttribute('class')), 'grid')

  // The list form by keyboard: to a game and back.
  await press('List')
  await page.waitForSelector('.game-row-title')
  await reach(page, 'All games')
  await type('ArrowDown', 'ArrowDown')
  const third = await page.$eval('[data-active] .game-row-title', ({ textContent }) => textContent)
  await type('Enter')
  await see(third, 'h1')
  await page.waitForSelector('main:focus')
  // A gamepad moves from a page that was just opened to its first control.
  await page.evaluate('pad.buttons = []; navigator.getGamepads = () => [pad]; dispatchEvent(new Event("gamepadconnected"))')
  await page.evaluate('pad.buttons[13] = { pressed: true }')
  await page.waitForFunction('!document.activeElement.matches("main")')
  await page.evaluate('navigator.getGamepads = () => []')
  t.ok(await page.$('.rom-line a:focus'), 'the first control is the platform')
  await page.goBack()
  await page.waitForSelector('.grid:focus [data-active] .game-row-title')
  t.equal(await page.$eval('[data-active] .game-row-title', ({ textContent }) => textContent), third, 'the way back leads to the same game')
  await checkAccessibility('list')

  // Rows that stay visible are left alone, which makes scrolling fast.
  const scrolled = await page.evaluate(SCROLL)
  t.same(scrolled, { kept: true, come: true, changed: 0 })

  // A click on a row opens its game, and a double click is one step in the history.
  const list = page.url()
  await (await page.waitForSelector('[data-active] .game-row-title'))?.click()
  await see(third, 'h1')
  await page.goBack()
  await page.waitForSelector('[data-active] .game-row-title')
  await page.$eval('[data-active] .game-row-link', (link) => {
    const row = link as HTMLElement
    row.click()
    row.click()
  })
  await see(third, 'h1')
  await page.goBack()
  await page.waitForFunction('document.querySelector(".game-row-title") !== null', { timeout: 10_000 })
  t.equal(page.url(), list)

  // A smart collection counts while its filters change.
  await open('collections')
  await see(MARKUP, '.collection-name')
  await press('New smart collection')
  await see('31 games fit', '.smart-count')
  await page.waitForSelector('.dialog input[required]:focus')
  await page.keyboard.type('My best')
  await press('Favourites')
  await see('2 games fit', '.smart-count')
  await press('Create')
  await see('My best', 'h1')
  await total(2)

  // The search opens anywhere, and leads to the library.
  await type('/')
  await page.waitForSelector('.palette-input:focus')
  await checkCounting(app, journey, admin)
  await page.keyboard.type('img')
  await see('2 results', '.palette [role="status"]')
  await see(MARKUP, '.palette-option')
  await checkAccessibility('search')
  await type('Enter')
  await see(MARKUP, 'h1')

  // A viewer sees no ROM that is hidden from them, and nothing administrative.
  await test.createUser('viewer')
  const users = (await app.inject({ url: '/api/users', headers: admin })).json<{ id: number, username: string }[]>()
  const viewer = users.find(({ username }) => username === 'viewer')
  const { items } = (await app.inject({ url: '/api/roms?search_term=img', headers: admin })).json<{ items: { id: number }[] }>()
  const { origin } = new URL(page.url())
  const other = await openOther()
  await other.bringToFront()
  await signIn('viewer', 'a password', other)
  await see('Hello, viewer', 'h1', other)
  await other.goto(`${origin}/roms?search=img`)
  await total(1, other)
  const hidden = { entity: 'roms', entity_id: items[0]?.id, user_id: viewer?.id }
  const { statusCode } = await app.inject({ method: 'POST', url: '/api/permissions/hidden', headers: admin, payload: hidden })
  t.equal(statusCode, 200)
  await total(0, other)
  await other.goto(`${origin}/roms`)
  await total(30, other)
  await other.waitForSelector('.grid .game-name')
  t.notMatch(await other.$eval('main', (element) => element.innerText), /onerror/)
  await reach(other, 'All games')
  await other.keyboard.press('Space')
  await press('More actions', 'Enter', other)
  await see('Hide from my lists', '.menu', other)
  t.notMatch(await other.$eval('.menu', (element) => element.textContent), /trash|Rescan|Match/i)
  await page.bringToFront()
}
