import t from 'tap'
import { createForm } from '../plugins/assets/support.ts'
import { pairDevice } from '../plugins/devices/support.ts'
import { createCaller } from '../plugins/tokens/support.ts'
import { until } from '../until.ts'
import { examine, pressOn as press, see } from './browser.ts'
import { makePdf } from './pdf.ts'
import { startGame } from './game-support.ts'

const { app, admin, harbor, url, fill, read, page, problems } = await startGame(t)

const readLocks = async (id: number) =>
  (await app.inject({ url: `/api/roms/${id}/sources`, headers: admin })).json<{ locked: string[] }>().locked

const fileOf = (path: string) => path.split('?')[0]

/** The requests that a device claimed. */
interface Claimed { status: number, body: { id: string }[] }

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

t.test('a game is sent to a device, whose progress and result show, and cancelled', async (t) => {
  const caller = createCaller(app, admin)
  const device = await pairDevice(app, caller)
  await caller.put(`/api/devices/${device.id}`, { name: 'Deck', capabilities: { remote_install: true } })
  const installs = `/api/devices/${device.id}/installs`
  await page.goto(`${url}/roms/${harbor}`)
  await press(page, 'More actions')
  await page.waitForSelector('.menu:focus-within')
  const isHighlighted = () => page.$('.menu-item[data-highlighted]::-p-text(Send to a device)')
  await until(async () => {
    await page.keyboard.press('ArrowDown')
    return await isHighlighted()
  }, 'the entry of the menu')
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
  // A page that is enlarged, or gets narrower with its window, stays in the middle.
  const middleOf = () => page.evaluate(`(() => {
    const list = document.querySelector('.manual-pages').getBoundingClientRect()
    const middle = list.top + list.height / 2
    return [...document.querySelectorAll('.manual-page')].find((one) => one.getBoundingClientRect().bottom > middle).dataset.page
  })()`)
  for (const key of ['+', '+', '+', '-', '-', '-', '-'] as const) {
    const before = await page.$eval('.manual-page', (element) => element.getBoundingClientRect().width)
    await page.keyboard.press(key)
    await page.waitForFunction((width) => document.querySelector('.manual-page')?.getBoundingClientRect().width !== width, {}, before)
    t.equal(await middleOf(), '2', key)
  }
  await page.keyboard.press('Escape')
  await page.waitForFunction(() => document.querySelector('.manual') === null)
  t.same(problems, [])
})
