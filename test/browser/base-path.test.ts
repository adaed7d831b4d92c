import t from 'tap'
import { buildTestApp } from '../support.ts'
import { runJourney } from './browser.ts'

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
  }, '/games')
})
