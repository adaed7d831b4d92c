import type { HTTPRequest, Page } from 'puppeteer-core'
import t, { type Test } from 'tap'
import { buildTestApp } from '../support.ts'
import { until } from '../until.ts'
import { runJourney, see } from './browser.ts'

t.test('below a base path sign-in, navigation and sockets work', async (t) => {
  const test = await buildTestApp(t, { env: { SVC_BASE_URL: 'http://127.0.0.1/games' } })
  await runJourney(t, test, async ({ page, see, press, signIn }) => {
    await signIn('admin', 'a password')
    await press('Platforms')
    await see('Your library is empty')
    t.equal(new URL(page.url()).pathname, '/games/platforms')
    await page.reload()
    await see('Your library is empty')
    await page.goBack()
    await page.waitForSelector('.home')

    // While the server cannot be reached, the page stays; the one that was asked for follows by itself.
    const wrong: string[] = []
    await page.exposeFunction('tell', (heading: string) => { wrong.push(heading) })
    await page.evaluate(`new MutationObserver(() => {
      const heading = document.querySelector('.empty h1')
      if (heading !== null) tell(heading.innerText)
    }).observe(document.body, { childList: true, subtree: true })`)
    await page.setOfflineMode(true)
    await press('Collections')
    await see('The server does not answer', '.shell-banner')
    await page.setOfflineMode(false)
    await see('Collections', 'h1')
    t.same(wrong, [], 'no page says that it failed')
    await refuseList(t, page)
  }, '/games')
})

/** The server refuses one list, as for a library that is not mounted, and answers everything else. Then it is gone. */
async function refuseList (t: Test, other: Page): Promise<void> {
  // In a page of its own, because an error is expected here.
  const page = await other.browserContext().newPage()
  const reason = 'The library is not mounted'
  const answers = new Map<string, (request: HTTPRequest) => unknown>([
    ['/games/api/platforms', (request) => request.respond({
      status: 503, contentType: 'application/json', body: JSON.stringify({ detail: reason })
    })]
  ])
  const held: HTTPRequest[] = []
  let probes = 0
  await page.goto(new URL('/games/collections', other.url()).href)
  await see(page, 'No collection yet')
  await page.setRequestInterception(true)
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.endsWith('/heartbeat')) probes++
    const answer = answers.get(pathname) ?? ((one) => { if (pathname.startsWith('/games/api/')) held.push(one); else void one.continue() })
    void answer(request)
  })
  await page.locator('::-p-aria([name="Platforms"])').click()
  await see(page, reason, 'main')
  t.equal(await page.$('.shell-banner'), null, 'the server answers')

  // A probe that fails says that the server is gone. When it answers again, the list loads by itself.
  await until(() => probes > 0, 'the probe')
  answers.clear()
  answers.set('/games/api/heartbeat', (request) => request.abort('internetdisconnected'))
  for (const request of held.splice(0)) await request.abort('internetdisconnected')
  await see(page, 'The server does not answer', '.shell-banner')
  page.removeAllListeners('request')
  await page.setRequestInterception(false)
  await see(page, 'Your library is empty')
  await page.waitForSelector('.shell-banner', { hidden: true })
  await page.close()
  await other.bringToFront()
}
