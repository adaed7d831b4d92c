import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { ElementHandle } from 'puppeteer-core'
import t, { type Test } from 'tap'
import { type TestApp, buildTestApp } from '../support.ts'
import { type Journey, runJourney, seePicture } from './browser.ts'
import { listPluginPackages } from '../../core/loader/packages/packages.ts'
import { LIST_PROVIDER, makeLibrary } from './library.ts'

const OWN = new Set(['@svc/provider-hasheous', '@svc/exporter-gamelist', '@svc/channel-webhook'])
const PACKAGES = [...LIST_PROVIDER, ...listPluginPackages('').filter(({ name }) => OWN.has(name))]
const PASSWORD = 'seven green lanterns'
const PROVIDER_PASSWORD = 'hunter2'

t.test('a person starts the server, signs in elsewhere and connects apps', async (t) => {
  const test = await buildTestApp(t, { worker: true, packages: PACKAGES, withoutAdmin: true })
  const games = await makeLibrary(test.libraryDir, 18)
  await runJourney(t, test, async (journey) => {
    journey.secrets.push(PASSWORD, PROVIDER_PASSWORD)
    await startFirst(t, journey, games.length)
    await uploadFile(t, test, journey)
    await createToken(t, test, journey)
    await pairDevice(t, test, journey)
    await changeChannel(t, test, journey)
    await signOutElsewhere(journey)
    await inviteViewer(t, test, journey)
  })
})

/** From the first page to covers, without a pointer. */
async function startFirst (t: Test, journey: Journey, count: number): Promise<void> {
  const { page, see, press, checkAccessibility } = journey
  const type = (text: string) => page.keyboard.type(text)
  async function tab (): Promise<void> {
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
  }
  await see('Welcome to svc')
  await checkAccessibility('first account')
  await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'username')
  await type('ana')
  await tab()
  await type(PASSWORD)
  await see('Very strong')
  await tab()
  await type('another one')
  await page.keyboard.press('Enter')
  await see('The two passwords differ')
  await page.focus('input[name=again]')
  await page.$eval('input[name=again]', (input) => { (input as HTMLInputElement).select() })
  await type(PASSWORD)
  await page.keyboard.press('Enter')

  await see('Where are your games?', 'h1')
  await see('Super Nintendo Entertainment System', '.folder')
  await checkAccessibility('library step')
  await press('Next: ')
  await see('Covers and texts', 'h1')
  await see('gamelist.xml', '.provider')
  await press('Test gamelist.xml')
  await see('It answers.', '.provider')
  await checkAccessibility('providers step')
  await setUpProvider(t, journey)
  await press('Settings of EmulationStation')
  await press('Save')
  await see('are stored.', '.toast')
  await press('Next: ')
  await see('Ready when you are.')
  // A start that does not arrive can be repeated.
  await page.setOfflineMode(true)
  await press('Start the scan')
  await see('The server does not answer', '.notice-failure')
  await page.setOfflineMode(false)
  await press('Scan again')
  await seePicture(page, '.found')
  await see(`Done: ${count} games`, '.scan-words')
  // Games whose events were not sent are loaded after the end.
  await page.waitForFunction((games) => document.querySelectorAll('.found .game').length === games, {}, count)
  await checkAccessibility('scan step')
  await press('To the library')
  await seePicture(page, '.grid')
}

/** Switches a provider on with the address of a server of one's own, which works at the second try. */
async function setUpProvider (t: Test, { page, see, press, checkAccessibility }: Journey): Promise<void> {
  let status = 503
  const server = createServer(({ url }, response) => { response.writeHead(url?.endsWith('/HealthCheck') === true ? status : 404).end() })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => { server.close() })
  await press('Settings of Hasheous')
  const address = await page.waitForSelector('dialog[open] input::-p-aria([name="Base url"])')
  await address?.evaluate((input) => { (input as HTMLInputElement).select() })
  await address?.type(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  await page.locator('dialog[open] .check input').click()
  await page.locator('dialog[open] input[type=password]').fill(PROVIDER_PASSWORD)
  await page.keyboard.press('Enter')
  await see('does not answer', 'dialog[open]')
  await checkAccessibility('settings of a provider')
  t.equal(await page.$eval('dialog[open] input[type=password]', (input) => input.getAttribute('placeholder')), 'Stored. Type to replace it.')
  status = 200
  await press('Save and test')
  await see('Hasheous works.', '.toast')
  await page.waitForFunction(() => document.querySelector('.provider [aria-label="Test Hasheous"]') !== null)
}

async function uploadFile (t: Test, { libraryDir }: TestApp, journey: Journey): Promise<void> {
  const { page, open, see, checkAccessibility } = journey
  const name = 'Dropped & “Found” <b>.sfc'
  const file = join(t.testdirName, name)
  await writeFile(file, 'a game from elsewhere')
  await open('upload')
  const input = await page.waitForSelector('input[type=file]:not([disabled])')
  await (input as ElementHandle<HTMLInputElement>).uploadFile(file)
  await see('is in the library', '.row')
  await checkAccessibility('upload')
  await open('roms?search=Dropped')
  await see('Dropped & “Found” <b>', '.game-name')
  t.equal(await readFile(join(libraryDir, 'roms', 'snes', name), 'utf8'), 'a game from elsewhere')
}

async function createToken (t: Test, { app }: TestApp, journey: Journey): Promise<void> {
  const { page, open, see, press, checkAccessibility } = journey
  await open('account/tokens')
  await press('Create a token')
  await page.waitForSelector('dialog input:focus')
  await page.keyboard.type('Handheld')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.qr')
  const token = await page.$eval('.input-code', (input) => (input as HTMLInputElement).value)
  journey.secrets.push(token)
  await checkAccessibility('token')
  const call = async (path: string) => (await app.inject({ url: path, headers: { authorization: `Bearer ${token}` } })).statusCode
  t.equal(await call('/api/roms'), 200)
  t.equal(await call('/api/logs'), 403, 'logs are outside of its rights')
  await press('I have it')
  await see('Handheld', '.row')
  await press('Revoke Handheld')
  await page.waitForSelector('dialog[open] .button-danger')
  await press('Revoke')
  await see('No tokens')
  await page.waitForFunction(() => document.activeElement?.innerText === 'Create a token')
  t.equal(await call('/api/roms'), 401)
}

async function pairDevice (t: Test, { app }: TestApp, journey: Journey): Promise<void> {
  const { page, open, see, press, checkAccessibility } = journey
  const begin = async () => (await app.inject({
    method: 'POST',
    url: '/api/auth/device/init',
    payload: { client_device_identifier: 'one', name: 'Pocket <i>', client: 'player', requested_scopes: ['roms.read', 'assets.write'] }
  })).json<{ device_code: string, user_code: string, verification_path_complete: string }>()
  const { device_code: code, verification_path_complete: path } = await begin()
  await open(path.slice(1))
  await see('Pocket <i>', 'h2')
  await see('Store your saves', 'form')
  await checkAccessibility('pairing')
  await press('Approve')
  await see('Connected')
  const polled = await app.inject({ method: 'POST', url: '/api/auth/device/token', payload: { device_code: code } })
  t.same(polled.json<{ scopes: string[] }>().scopes.toSorted(), ['assets.write', 'roms.read'])

  // A refusal that does not arrive can be repeated.
  const { verification_path_complete: second } = await begin()
  await open(second.slice(1))
  await see('Pocket <i>', 'h2')
  await page.setOfflineMode(true)
  await press('Deny')
  await see('The server does not answer', '.toast')
  await page.setOfflineMode(false)
  await page.waitForSelector('.button-danger[aria-busy=false]')
  await press('Deny')
  await see('Denied')

  // A second Enter after the code approves nothing.
  await open('pair/device')
  await page.waitForFunction(() => document.activeElement?.getAttribute('name') === 'user_code')
  await page.keyboard.type((await begin()).user_code)
  await page.keyboard.press('Enter')
  await see('Pocket <i>', 'h2')
  await page.keyboard.press('Enter')
  t.ok(await page.$('.pair-device:focus'), 'the focus is at the device')
  await press('Deny')
  await see('Denied')
}

/** Changes a channel without its address and secret, which the server never tells. */
async function changeChannel (t: Test, { app }: TestApp, journey: Journey): Promise<void> {
  const { page, open, see, press, fill } = journey
  const authorization = `Basic ${Buffer.from(`ana:${PASSWORD}`).toString('base64')}`
  await open('account/channels')
  await press('Add a channel')
  await see('Signature header', 'dialog')
  await fill('Name', 'House')
  await fill('Url', 'http://192.0.2.1/hook')
  await fill('Secret', 'open sesame')
  await press('Save')
  await see('House', '.row-title')
  await press('Edit House')
  await see('Signature header', 'dialog')
  await fill('Name', 'Home')
  await press('Save')
  await see('Home', '.row-title')
  const channel = { name: 'Home', target: /^http:\/\/192\.0\.2\.1.*hook$/ }
  const list = async () => (await app.inject({ url: '/api/notification-channels', headers: { authorization } })).json<unknown>()
  t.match(await list(), [{ ...channel, has_secret: true }], 'address and secret stay')

  await press('Edit Home')
  await press('Remove the stored value: Secret', 'Space')
  await page.waitForSelector('dialog input[type=password]:disabled')
  await press('Save')
  await page.waitForSelector('dialog', { hidden: true })
  t.match(await list(), [{ ...channel, has_secret: false }], 'the address stays without the secret')
}

async function signOutElsewhere (journey: Journey): Promise<void> {
  const { page, open, see, openOther, signIn, press } = journey
  const other = await openOther()
  await signIn('ana', PASSWORD, other)
  await open('account/security')
  await see('This browser', '.row')
  await page.bringToFront()
  await press('Sign out everywhere else')
  await page.waitForSelector('dialog[open] .button-danger')
  await press('Sign out everywhere else')
  await see('Welcome back', 'h1', other)
  await page.waitForFunction(() => document.querySelectorAll('.rows .row').length === 1)
  await see('This browser', '.row')
  await open('notifications')
  await see('Scan finished', '.note')
  await press('Mark all as read')
  await page.waitForSelector('.bell-count', { hidden: true })
}

/** An invited person sees nothing that administers the server. */
async function inviteViewer (t: Test, { app }: TestApp, journey: Journey): Promise<void> {
  const { page, openOther, see, fill, press } = journey
  const invite = await app.inject({
    method: 'POST', url: '/api/users/invite-link?role=user', headers: { authorization: `Basic ${btoa(`ana:${PASSWORD}`)}` }
  })
  const { token } = invite.json<{ token: string }>()
  const viewer = await openOther()
  const address = viewer.url()
  await viewer.goto(`${address}register?token=${token}`)
  await see('You are invited', 'h1', viewer)
  t.notMatch(viewer.url(), 'token', 'the link is no longer in the address')
  await fill('Username', 'ben', viewer)
  await fill('Password', PASSWORD, viewer)
  await fill('Password again', PASSWORD, viewer)
  await viewer.bringToFront()
  await press('Create account', 'Enter', viewer)
  await viewer.waitForSelector('.shell')
  await press('Account: ben', 'Enter', viewer)
  await viewer.waitForSelector('.menu')
  const menu = await viewer.$eval('.menu', (element) => (element as HTMLElement).innerText)
  t.match(menu, 'Account')
  t.notMatch(menu, 'Set up')
  for (const view of ['setup', 'setup/scan']) {
    await viewer.goto(`${address}${view}`)
    await see('This page is not for you', 'body', viewer)
  }
  await page.goto(`${address}forgot-password`)
  await see('cannot send mails')
}
