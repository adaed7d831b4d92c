import type { HTTPRequest } from 'puppeteer-core'
import t, { type Test } from 'tap'
import { type TestApp, buildTestApp } from '../support.ts'
import { DESKTOP, type Journey, PHONE, runJourney } from './browser.ts'
import { LIST_PROVIDER, makeLibrary } from './library.ts'

t.test('lists stand long names, hurried people, other time zones and failed parts', async (t) => {
  const test = await buildTestApp(t, { worker: true, packages: LIST_PROVIDER })
  await makeLibrary(test.libraryDir, 24)
  await test.app.inject({ method: 'POST', url: '/api/tasks/run/scan_library', headers: test.admin })
  await runJourney(t, test, async (journey) => {
    await journey.signIn('admin', 'a password')
    await hurry(t, journey)
    await checkLongNames(t, test, journey)
  })
})

/** Long names without a space break within the width of a phone. */
async function checkLongNames (t: Test, { app, admin: headers }: TestApp, journey: Journey): Promise<void> {
  const { page, open, see, press } = journey
  const name = 'W'.repeat(100)
  const { id } = (await app.inject({ method: 'POST', url: '/api/collections', headers, payload: { name } })).json<{ id: number }>()
  await app.inject({ method: 'POST', url: '/api/client-tokens', headers, payload: { name, scopes: ['roms.read'] } })
  const listWide = () => page.evaluate(`[...document.querySelectorAll('html, h1, dialog[open] h2, .row-title')]
    .filter((part) => part.scrollWidth > part.clientWidth || part.getBoundingClientRect().right > innerWidth).map(({ tagName }) => tagName)`)
  await page.setViewport(PHONE)
  await open(`collections/${id}`)
  await see(name, 'h1')
  t.same(await listWide(), [], 'the page of a collection')
  await open('account/tokens')
  await see(name, '.row')
  t.same(await listWide(), [], 'the list of tokens')
  await press(`Revoke ${name}`)
  await see(name, 'dialog[open] h2')
  t.same(await listWide(), [], 'a dialog')
  await page.keyboard.press('Escape')
  await page.setViewport(DESKTOP)
}

/** A person chooses a filter before a typed search is in the address, and a page of the list fails. */
async function hurry (t: Test, { page, open, see, press }: Journey): Promise<void> {
  await open('roms')
  await press('Filters')
  await page.waitForSelector('.flag-chip')
  // Both at once, because the search waits only a moment for further letters.
  await page.evaluate(`(() => {
    const field = document.querySelector('.list-search input')
    field.value = 'harbor'
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
    document.querySelector('.flag-chip').click()
  })()`)
  await page.waitForFunction(() => location.search.includes('search=harbor'))
  t.equal(new URL(page.url()).search, '?search=harbor&favorite=true')

  // West of Greenwich a day begins later than in UTC, and is the same day in the field and beside the list.
  await page.emulateTimezone('America/Los_Angeles')
  await open('roms')
  await press('Filters')
  await page.waitForSelector('input[type=date]')
  await page.locator('input[type=date]').fill('2026-10-15')
  await see('Oct 15, 2026', '.chip')
  t.equal(new URL(page.url()).searchParams.get('updated_after'), '2026-10-15T07:00:00.000Z')
  t.equal(await page.evaluate("document.querySelector('input[type=date]').value"), '2026-10-15')
  await page.emulateTimezone()

  let isAsleep = true
  const refuse = (request: HTTPRequest) => {
    const isRefused = request.url().includes('limit=60') && isAsleep
    const body = JSON.stringify({ detail: 'The disk is asleep' })
    void (isRefused ? request.respond({ status: 403, contentType: 'application/json', body }) : request.continue())
  }
  await page.setRequestInterception(true)
  page.on('request', refuse)
  await open('roms')
  await see('The disk is asleep', '.library-games')
  isAsleep = false
  await press('Try again')
  await page.waitForSelector('.grid .game-name')
  await page.waitForFunction(() => document.querySelector('.library-games .notice') === null)
  page.off('request', refuse)
  await page.setRequestInterception(false)
}
