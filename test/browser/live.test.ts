import t, { type Test } from 'tap'
import { type TestApp, buildTestApp } from '../support.ts'
import { type Journey, runJourney } from './browser.ts'
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

  // The person looks at an empty library; somebody else puts games into it and scans.
  await open('roms')
  await page.waitForSelector('.empty')
  const games = await makeLibrary(test.libraryDir, 24)
  await test.app.inject({ method: 'POST', url: '/api/tasks/run/scan_library', headers: test.admin })
  await page.waitForSelector('.grid img[data-loaded]')
  const names = new Set(games.map(({ name }) => name))
  await page.waitForFunction((count) => document.querySelectorAll('.grid .game-name').length === count, {}, games.length)
  const shown = await page.$$eval('.grid .game-name', (elements) => elements.map(({ textContent }) => textContent))
  t.same(shown.toSorted(), [...names].toSorted())
  await checkAccessibility('library')

  // By keyboard alone: to a game and back, where the grid is as before.
  await page.focus('.grid')
  await page.keyboard.press('ArrowRight')
  const second = await page.$eval('.grid [data-active] .game-name', ({ textContent }) => textContent)
  await page.keyboard.press('Enter')
  await see(second, 'h1')
  await page.reload()
  await see(second, 'h1')
  await checkAccessibility('game')
  await page.goBack()
  await page.waitForSelector('.grid')
  for (const view of ['', 'platforms', 'nowhere']) {
    await open(view)
    await page.waitForSelector('h1, .empty')
    await page.waitForFunction(() => document.querySelector('.skeleton') === null)
    await checkAccessibility(view === '' ? 'home' : view)
  }

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

t.test('below a base path sign-in, navigation and sockets work', async (t) => {
  const test = await buildTestApp(t, { env: { SVC_BASE_URL: 'http://127.0.0.1/games' } })
  await runJourney(t, test, async ({ page, see, click, signIn }) => {
    await signIn('admin', 'a password')
    await click('Platforms')
    await see('Your library is empty')
    t.equal(new URL(page.url()).pathname, '/games/platforms')
    await page.reload()
    await see('Your library is empty')
    await page.goBack()
    await page.waitForSelector('.home')
  }, '/games')
})
