import type { Page } from 'puppeteer-core'
import t from 'tap'
import { createForm } from '../plugins/assets/support.ts'
import { pairDevice } from '../plugins/devices/support.ts'
import { createCaller } from '../plugins/tokens/support.ts'
import { until } from '../until.ts'
import { DESKTOP, checkSecrecy, examine, pressOn as press, see, startBrowser, watch } from './browser.ts'
import { MARKUP_NAME, buildGameLibrary } from './game-library.ts'
import { makePdf } from './pdf.ts'

const browser = await startBrowser()
if (browser === null) {
  t.pass('no browser runs on this machine')
  process.exit(0)
}
t.teardown(() => browser.close())
const library = await buildGameLibrary(t)
const { app, admin, harbor, tales, addSave, createUser, scan, idOf } = library
const url = await app.listen({ port: 0, host: '127.0.0.1' })
const problems: string[] = []

async function signIn (name: string): Promise<Page> {
  const page = await (await browser?.createBrowserContext())?.newPage()
  if (page === undefined) throw new Error('The browser opened no page')
  await page.setViewport(DESKTOP)
  watch(page, url, problems)
  await page.goto(url)
  await page.locator('input[name=username]').fill(name)
  await page.locator('input[name=password]').fill('a password')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.shell')
  return page
}

const fill = async (page: Page, name: string, value: string) => {
  await page.locator(`::-p-aria([name="${name}"])`).fill(value)
}
const titleOf = async (page: Page) => page.$eval('h1', (heading) => heading.textContent)
const read = async (id: number) =>
  (await app.inject({ url: `/api/roms/${id}`, headers: admin })).json<{
    name: string
    path_cover_large: string
    vault_id: number | null
    user_saves: { id: number; file_name: string; sha1: string; conflict_of: number | null }[]
  }>()

const readLocks = async (id: number) =>
  (await app.inject({ url: `/api/roms/${id}/sources`, headers: admin })).json<{ locked: string[] }>().locked

const fileOf = (path: string) => path.split('?')[0]

/** The requests that a device claimed. */
interface Claimed { status: number, body: { id: string }[] }

const page = await signIn('admin')

t.test('an edit with a lock stays after a scan until somebody unlocks it', async (t) => {
  await page.goto(`${url}/roms/${harbor}`)
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Chrono Harbor')
  t.same(await examine(page), [])
  // By keyboard alone: the menu, its first entry, and the form.
  await press(page, 'More actions')
  await page.waitForSelector('.menu')
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await fill(page, 'Name', 'Chrono Harbour')
  // A look at another page, and the end of the session, keep what the person typed.
  await page.locator('.shell-nav [href$=platforms]').click()
  await see(page, 'Platforms')
  await page.goBack()
  await see(page, 'These changes from before are not saved yet.')
  const session = (await page.browserContext().cookies()).filter(({ name }) => name === 'svc_session')
  await page.browserContext().deleteCookie(...session)
  await press(page, 'Save changes')
  await see(page, 'Your session ended.')
  await page.locator('input[name=username]').fill('admin')
  await page.locator('input[name=password]').fill('a password')
  await page.keyboard.press('Enter')
  await see(page, 'These changes from before are not saved yet.')
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('.edit-field input')?.value === 'Chrono Harbour')
  await page.focus('.edit-field input')
  await page.keyboard.press('Enter')
  await see(page, 'Saved.')
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Chrono Harbour')
  await scan({ platform_fs_slugs: ['gb'], type: 'complete' })
  t.equal((await read(harbor)).name, 'Chrono Harbour')
  await page.goto(`${url}/roms/${harbor}?tab=metadata`)
  await see(page, 'Locked')
  t.same(await examine(page), [])
  await press(page, 'Unlock Name')
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Chrono Harbor')
})

t.test('a cover is chosen among those of providers or from a file, and undone', async (t) => {
  const before = (await read(harbor)).path_cover_large
  await page.goto(`${url}/roms/${harbor}/edit`)
  await press(page, 'Choose a cover')
  await page.waitForSelector('.cover-option')
  t.ok((await page.$$('.cover-option')).length >= 3)
  t.same(await examine(page), [])
  await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(60, 80)
    canvas.getContext('2d')?.fillRect(0, 0, 60, 80)
    const files = new DataTransfer()
    files.items.add(new File([await canvas.convertToBlob()], 'mine.png', { type: 'image/png' }))
    const field = document.querySelector<HTMLInputElement>('.cover-drop input')
    if (field === null) return
    field.files = files.files
    field.dispatchEvent(new Event('change', { bubbles: true }))
  })
  await see(page, 'This cover is stored when you save.')
  await press(page, 'Save changes')
  await see(page, 'Saved.')
  t.not(fileOf((await read(harbor)).path_cover_large), fileOf(before))
  await press(page, 'Undo')
  await see(page, 'The former values are back.')
  t.notOk((await readLocks(harbor)).includes('url_cover'), 'the cover of the provider has no lock')
})

t.test('a game without a match is found by a search, and refused again', async (t) => {
  await page.goto(`${url}/roms/${tales}`)
  await see(page, 'Not identified yet')
  t.same(await examine(page), [])
  await press(page, 'Find a match')
  await page.waitForSelector('.candidate h3')
  t.same(await examine(page), [])
  await press(page, 'This is it: Harbor Tales')
  await see(page, 'Matched with')
  t.equal((await read(tales)).vault_id, 42)
  await page.goto(`${url}/roms/${tales}/match`)
  await press(page, 'Not this one: vault')
  await until(async () => (await read(tales)).vault_id === null, 'the match is gone')
})

t.test('a conflict is resolved by keeping both, and a former save is restored and undone', async (t) => {
  const save = await addSave(harbor, 'Harbor.srm', 'first')
  await addSave(harbor, 'Harbor.srm', 'second')
  await addSave(harbor, 'Harbor.srm', 'from the deck', `&conflict_of=${save}`)
  await page.goto(`${url}/roms/${harbor}?tab=saves`)
  await see(page, 'Two devices changed')
  t.same(await examine(page), [])
  await press(page, 'Keep both')
  await see(page, 'Both are kept')
  await until(async () => (await read(harbor)).user_saves.every(({ conflict_of: original }) => original === null), 'no conflict is left')
  t.equal((await read(harbor)).user_saves.length, 2)
  await page.waitForFunction(() => document.activeElement?.innerText === 'Upload a save')
  const shaOf = async () => (await read(harbor)).user_saves.find(({ id }) => id === save)?.sha1
  const second = await shaOf()
  await press(page, 'Older versions of Harbor.srm')
  await press(page, 'Restore Harbor.srm')
  await see(page, 'is restored')
  t.not(await shaOf(), second)
  await page.keyboard.down('Control')
  await page.keyboard.press('z')
  await page.keyboard.up('Control')
  await until(async () => (await shaOf()) === second, 'the save is as before')
})

t.test('a manual is read page by page, by keyboard, and play time is drawn', async (t) => {
  const form = createForm([{ name: 'Harbor.pdf', fileName: 'Harbor.pdf', content: makePdf(['Welcome aboard', 'The tides', 'The end']) }])
  const added = await app.inject({
    method: 'POST', url: `/api/roms/${harbor}/manuals`, payload: form.payload,
    headers: { ...admin, ...form.headers, 'x-upload-filename': 'Harbor.pdf' }
  })
  t.equal(added.statusCode, 201, added.body)
  const sessions = [1, 9, 16].map((day) => {
    const start = Date.now() - day * 86_400_000
    const [from, to] = [start, start + 2_700_000].map((ms) => new Date(ms).toISOString())
    return { rom_id: harbor, start_time: from, end_time: to }
  })
  const played = await app.inject({ method: 'POST', url: '/api/play-sessions', headers: admin, payload: { sessions } })
  t.match(played.json(), { created_count: 3 })
  await page.goto(`${url}/roms/${harbor}`)
  await page.waitForSelector('.rom-plot canvas')
  t.equal((await page.$$('table.visually-hidden tbody tr')).length > 1, true, 'a table says the same')
  await press(page, 'Open the manual')
  await page.waitForSelector('.manual-page p')
  t.match(await page.$eval('.manual-page p', (text) => text.textContent), 'Welcome aboard')
  // Pages have a white ground, so a drawn rectangle shows as its colour.
  const colorOf = async (number: number) => await page.evaluate(`(() => {
    const canvas = document.querySelector('[data-page="${number}"] canvas')
    return [...canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data].slice(0, 3).map((part) => Math.round(part / 51)).join()
  })()`)
  t.equal(await colorOf(1), '1,2,4')
  t.same(await examine(page), [])
  await page.focus('.manual-pages')
  await page.keyboard.press('End')
  await see(page, 'Page 3 of 3')
  await page.waitForSelector('[data-page="3"] p')
  await page.keyboard.press('ArrowLeft')
  await see(page, 'Page 2 of 3')
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => document.querySelector('.manual') === null)
  t.same(problems, [])
})

t.test('a game is sent to a device, whose progress and result show, and cancelled', async (t) => {
  const caller = createCaller(app, admin)
  const device = await pairDevice(app, caller)
  await caller.put(`/api/devices/${device.id}`, { name: 'Deck', capabilities: { remote_install: true } })
  const installs = `/api/devices/${device.id}/installs`
  await page.goto(`${url}/roms/${harbor}`)
  await press(page, 'More actions')
  await page.waitForSelector('.menu:focus-within')
  await page.keyboard.type('Se')
  await page.waitForSelector('.menu-item[data-highlighted]::-p-text(Send to a device)')
  await page.keyboard.press('Enter')
  await press(page, 'Send to Deck')
  await see(page, 'Waits for the device')
  const claim = async () => {
    const { status, body: [request] } = await device.calls.post(`${installs}/claim`) as unknown as Claimed
    t.equal(status, 200)
    t.ok(request !== undefined, 'the device finds a request')
    return request?.id
  }
  const first = await claim()
  await device.calls.put(`${installs}/${first}/progress`, { percent: 42 })
  await see(page, 'Installing 42%')
  await device.calls.put(`${installs}/${first}`, { status: 'failed', reason: 'The card is full' })
  await see(page, 'The card is full')
  await press(page, 'Send to Deck')
  await see(page, 'Waits for the device')
  await claim()
  await see(page, 'Installing')
  await press(page, 'Cancel sending to Deck')
  await see(page, 'Cancelled')
  await page.waitForSelector('dialog [aria-label="Send to Deck"][aria-busy=false]')
  t.match(await page.$eval('dialog[open]', (dialog) => dialog.innerText), 'Cancelled', 'the result stays')
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'More actions')
  t.same(problems, [])
})

t.test('the second of two tabs that edit one game sees both values', async (t) => {
  const [first, second] = [page, await page.browserContext().newPage()]
  for (const tab of [first, second]) {
    await tab.goto(`${url}/roms/${harbor}/edit`)
    await tab.waitForSelector('.edit-field input')
  }
  await fill(second, 'Name', 'Name of the second tab')
  await first.bringToFront()
  await fill(first, 'Name', 'Name of the first tab')
  await press(first, 'Save changes')
  await see(first, 'Saved.')
  await second.bringToFront()
  await see(second, 'Somebody changed this game meanwhile')
  await see(second, 'Name of the first tab')
  t.same(await examine(second), [])
  await press(second, 'Keep mine: Name')
  await press(second, 'Save changes')
  await see(second, 'Saved.')
  t.equal((await read(harbor)).name, 'Name of the second tab')
  await second.close()
})

t.test('a name full of markup is text, and a viewer sees nothing to edit', async (t) => {
  const id = await idOf('Tag <b>')
  await page.goto(`${url}/roms/${id}`)
  await page.waitForSelector('h1')
  t.equal(await titleOf(page), MARKUP_NAME)
  await createUser('zoe')
  const viewer = await signIn('zoe')
  await viewer.goto(`${url}/roms/${id}`)
  await viewer.waitForSelector('.rom-main')
  t.equal(await viewer.$('.rom-unidentified'), null)
  await press(viewer, 'More actions')
  await viewer.waitForSelector('.menu')
  t.notMatch(await viewer.$eval('.menu', (menu) => menu.textContent), /Edit|Match|trash/)
  await viewer.goto(`${url}/roms/${id}/edit`)
  await see(viewer, 'This page is not for you')
  t.same(problems, [], 'no error, nothing that the policy refused, and no foreign host')
  for (const one of [page, viewer]) await checkSecrecy(t, one, ['a password'])
})
