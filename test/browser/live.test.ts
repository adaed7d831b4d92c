import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HTTPRequest, Page } from 'puppeteer-core'
import t, { type Test } from 'tap'
import { type TestApp, buildTestApp } from '../support.ts'
import { until } from '../until.ts'
import { type Journey, PHONE, reach, runJourney, see, seePicture } from './browser.ts'
import { LIST_PROVIDER, makeLibrary } from './library.ts'

t.test('covers appear while a scan runs, and a sign-out elsewhere ends the session', async (t) => {
  const test = await buildTestApp(t, { worker: true, packages: LIST_PROVIDER })
  await runJourney(t, test, (journey) => takeSteps(t, test, journey))
})

async function takeSteps (t: Test, test: TestApp, journey: Journey): Promise<void> {
  const { page, open, see, signIn, openOther, checkAccessibility } = journey
  await see('Sign in')
  await checkAccessibility('sign-in')
  await open('platforms/snes')
  await signIn('admin', 'a password')
  t.equal(await page.evaluate(() => document.activeElement?.id), 'main', 'the focus is in the page after a sign-in')

  // The person looks at an empty library; somebody else puts games into it and scans.
  for (const view of ['', 'platforms', 'roms']) {
    await open(view)
    await page.waitForSelector('.empty-library input[type=file]')
  }
  const games = await makeLibrary(test.libraryDir, 24)
  await test.app.inject({ method: 'POST', url: '/api/tasks/run/scan_library', headers: test.admin })
  await seePicture(page, '.grid')
  const names = new Set(games.map(({ name }) => name))
  await page.waitForFunction((count) => document.querySelectorAll('.grid .game-name').length === count, {}, games.length)
  const shown = await page.$$eval('.grid .game-name', (elements) => elements.map(({ textContent }) => textContent))
  t.same(shown.toSorted(), [...names].toSorted())

  // By keyboard alone: to a game and back, where the grid is as before.
  await reach(page, 'All games')
  await page.keyboard.press('ArrowRight')
  const second = await page.$eval('.grid [data-active] .game-name', ({ textContent }) => textContent)
  await page.keyboard.press('Enter')
  await see(second, 'h1')
  await page.reload()
  await see(second, 'h1')
  await checkAccessibility('game')
  await page.goBack()
  await page.waitForSelector('.grid')
  await checkAccessibility('library')
  await visitForeign(t, test, journey)

  await page.evaluate("history.pushState(null, '', 'roms/%E0%A4%A'); dispatchEvent(new PopStateEvent('popstate'))")
  await see('There is nothing here', 'h1')

  await loseEvent(t, test, journey)
  await changeElsewhere(t, test, journey)
  await loseCovers(page)

  // The account ends all its other sessions in another browser.
  const other = await openOther()
  await signIn('admin', 'a password', other)
  await open('roms')
  await page.waitForSelector('.grid')
  await other.evaluate(async () => {
    const token = /svc_csrftoken=([^;]*)/.exec(document.cookie)?.[1] ?? ''
    await fetch('api/sessions', { method: 'DELETE', headers: { 'x-csrftoken': token } })
  })
  await see('Sign in')
  t.equal(new URL(page.url()).pathname, '/roms', 'the next sign-in leads back')
  await signIn('admin', 'a password')
  await page.waitForSelector('.grid')
}

/** Somebody changes something after the page loaded its data, and before its socket receives events. */
async function loseEvent (t: Test, { app, admin }: TestApp, { page, open, see }: Journey): Promise<void> {
  const lists: string[] = []
  // A request is reported before its response shows in the page, a response perhaps later.
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/collections') lists.push(request.url())
  })
  const late = Promise.withResolvers<undefined>()
  let isHeld = true
  app.sockets.main.use((_socket, next) => {
    if (isHeld) void late.promise.then(next)
    else next()
  })
  await open('collections')
  await see('No collection yet')
  t.equal(lists.length, 1)
  await app.inject({ method: 'POST', url: '/api/collections', headers: admin, payload: { name: 'Late arrivals' } })
  isHeld = false
  late.resolve(undefined)
  await see('Late arrivals')
  t.equal(lists.length, 2, 'the list was loaded once more')
}

/** Covers that did not arrive while the server was away follow when it answers again. */
async function loseCovers (other: Page): Promise<void> {
  // In a page of its own, because errors are expected here.
  const page = await other.browserContext().newPage()
  await page.setViewport(PHONE)
  await page.setCacheEnabled(false)
  await page.goto(new URL('/roms', other.url()).href)
  await seePicture(page, '.grid')
  await page.setOfflineMode(true)
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
  await see(page, 'The server does not answer', '.shell-banner')
  await page.evaluate("document.querySelector('.grid').scrollTop = 1e6")
  // Two games have no cover at all.
  await page.waitForFunction("document.querySelectorAll('.grid .cover-title').length > 2")
  await page.setOfflineMode(false)
  await page.waitForFunction("document.querySelectorAll('.grid .cover-title').length <= 2")
  await seePicture(page, '.grid')
  await page.close()
  await other.bringToFront()
}

/** Somebody changes things that the person looked at before, and edits and deletes a collection that is open. */
async function changeElsewhere (t: Test, { app, admin: headers }: TestApp, journey: Journey): Promise<void> {
  const { page, open, see, press, fill } = journey
  const add = async (name: string) =>
    (await app.inject({ method: 'POST', url: '/api/collections', headers, payload: { name } })).json<{ id: number }>().id
  const edit = async () => {
    await press('More')
    await page.waitForSelector('.menu:focus')
    await page.keyboard.press('Home')
    await page.waitForSelector('.menu [data-highlighted]')
    await page.keyboard.press('Enter')
  }
  await open('')
  await see('Late arrivals', '.home')
  await press('Platforms')
  await see('Platforms', 'h1')
  const id = await add('Meanwhile')
  await page.goBack()
  await see('Meanwhile', '.home')

  // An edit stores what the person changed. The page does not know the newest members yet.
  await open(`collections/${id}`)
  await see('Meanwhile', 'h1')
  await edit()
  await fill('Name', 'Renamed')
  const held: HTTPRequest[] = []
  const hold = (request: HTTPRequest) => {
    if (held.length === 0 && new URL(request.url()).pathname === `/api/collections/${id}`) held.push(request)
    else void request.continue()
  }
  await page.setRequestInterception(true)
  page.on('request', hold)
  const { items } = (await app.inject({ url: '/api/roms?limit=2', headers })).json<{ items: { id: number }[] }>()
  const romIds = items.map((rom) => rom.id)
  const payload = { description: 'From the other browser', rom_ids: JSON.stringify(romIds) }
  t.equal((await app.inject({ method: 'PUT', url: `/api/collections/${id}`, headers, payload })).statusCode, 200)
  await until(() => held.length > 0, 'the request after the event')
  await press('Save')
  await see('Renamed', '.toast')
  const stored = (await app.inject({ url: `/api/collections/${id}`, headers })).json<{ rom_ids: number[] }>()
  t.match(stored, { name: 'Renamed', description: 'From the other browser' })
  t.same(stored.rom_ids.toSorted(), romIds.toSorted())
  page.off('request', hold)
  for (const request of held) await request.continue().catch(() => {})
  await page.setRequestInterception(false)

  // So does an edit of a smart collection.
  const filter = { name: 'Clever', filter_criteria: '{"regions":["Atlantis"]}' }
  const smart = (await app.inject({ method: 'POST', url: '/api/collections/smart', headers, payload: filter })).json<{ id: number }>()
  await open(`collections/smart/${smart.id}`)
  await see('Clever', 'h1')
  await edit()
  await fill('Name', 'Cleverer')
  const changes = { description: 'From the other browser', filter_criteria: '{"regions":["Japan"]}' }
  const url = `/api/collections/smart/${smart.id}`
  t.equal((await app.inject({ method: 'PUT', url, headers, payload: changes })).statusCode, 200)
  await press('Save')
  await see('Cleverer', '.toast')
  t.match((await app.inject({ url, headers })).json(), {
    name: 'Cleverer', description: 'From the other browser', filter_criteria: { regions: ['Japan'] }
  })
  await open(`collections/${id}`)
  await see('Renamed', 'h1')

  // The way back to another collection closes the dialog of this one.
  const other = await add('Other')
  await page.evaluate(`history.pushState(null, '', 'collections/${other}'); dispatchEvent(new PopStateEvent('popstate'))`)
  await see('Other', 'h1')
  await edit()
  await fill('Name', 'Another name')
  await page.goBack()
  await see('Renamed', 'h1')
  await page.waitForFunction(() => document.querySelector('dialog[open]') === null)

  // In a page of its own, because an error is expected here.
  const tab = await page.browserContext().newPage()
  const address = page.url()
  await open('platforms')
  await tab.goto(address)
  await see('Renamed', 'h1', tab)
  await app.inject({ method: 'DELETE', url: `/api/collections/${id}`, headers })
  await see('This collection is not here', 'h2', tab)
  await tab.close()
  await page.bringToFront()
  await app.inject({ method: 'DELETE', url: `/api/collections/${other}`, headers })
}

/**
 * A person who is signed in opens a page of somebody else on another port of this machine. Browsers send the cookie
 * with its requests, because the site of both is the same.
 */
async function visitForeign (t: Test, { app, admin }: TestApp, { page }: Journey): Promise<void> {
  const { origin } = new URL(page.url())
  const foreign = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><form method="post" action="${origin}/api/collections"
      enctype="multipart/form-data"><input name="name" value="Stolen"></form>`)
  })
  await new Promise<void>((resolve) => { foreign.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => { foreign.close() })
  const address = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`
  const tab = await page.browserContext().newPage()
  await tab.goto(address)
  const [reply] = await Promise.all([tab.waitForNavigation(), tab.evaluate("document.querySelector('form').submit()")])
  t.equal(reply?.status(), 403)
  t.match(await reply?.json(), { detail: /^CSRF token missing/ }, 'the browser sent the cookie')
  await tab.goto(address)
  const outcomes = await tab.evaluate(`Promise.all([
    fetch('${origin}/api/users/me', { credentials: 'include' }),
    fetch('${origin}/api/sessions', { method: 'DELETE', credentials: 'include' }),
    fetch('${origin}/api/collections', { method: 'POST', mode: 'no-cors', credentials: 'include', body: new URLSearchParams({ name: 'Stolen' }) })
  ].map((reply) => reply.then(({ type }) => type, () => 'refused')))`)
  t.same(outcomes, ['refused', 'refused', 'refused'], 'the page reads nothing')
  const { body } = await app.inject({ url: '/api/collections', headers: admin })
  t.notMatch(body, 'Stolen', 'the page changes nothing')
  await tab.close()
  await page.bringToFront()
}
