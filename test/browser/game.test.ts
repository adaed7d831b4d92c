import { join } from 'node:path'
import type { ElementHandle, HTTPRequest, Page } from 'puppeteer-core'
import t from 'tap'
import { until } from '../until.ts'
import { checkSecrecy, examine, pressOn as press, see } from './browser.ts'
import { MARKUP_NAME } from './game-library.ts'
import { startGame } from './game-support.ts'

const {
  app, admin, harbor, tales, addSave, createUser, scan, idOf, url, signIn, fill, read, page, problems
} = await startGame(t)

const titleOf = async (page: Page) => page.$eval('h1', (heading) => heading.textContent)

t.test('an edit with a lock stays after a scan until somebody unlocks it', async (t) => {
  await page.goto(`${url}/roms/${harbor}`)
  await page.waitForFunction(() => document.querySelector('h1')?.textContent === 'Chrono Harbor')
  t.same(await examine(page), [])
  // West of Greenwich a release date is still the day that the provider names.
  await page.emulateTimezone('America/Los_Angeles')
  await page.reload()
  await see(page, '1994', '.rom-line')
  await see(page, 'Jan 1, 1994', '.rom-facts')
  await page.emulateTimezone()
  // By keyboard alone: the menu, its first entry, and the form.
  await press(page, 'More actions')
  await page.waitForSelector('.menu:focus-within')
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

t.test('a note that is being written survives the end of the session', async (t) => {
  await page.goto(`${url}/roms/${tales}`)
  await press(page, 'Write a note')
  await fill(page, 'Title', 'Map')
  await fill(page, 'Text', 'North, then east')
  await app.inject({ method: 'DELETE', url: '/api/sessions', headers: admin })
  await see(page, 'Your session ended.')
  // A sign-in by OpenID loads the page again.
  await page.reload()
  await page.locator('input[name=username]').fill('admin')
  await page.locator('input[name=password]').fill('a password')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.rom-head')
  await press(page, 'Write a note')
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('dialog textarea')?.value === 'North, then east')
  await press(page, 'Save')
  await see(page, 'North, then east', '.rom-notes')
  await press(page, 'Write a note')
  t.equal(await page.$eval('dialog textarea', (field) => (field as HTMLInputElement).value), '', 'a saved note is no draft')
  await page.keyboard.press('Escape')
})

t.test('a note that is being written is deleted when another account signs in', async (t) => {
  await createUser('ann')
  const shared = await signIn('ann')
  await shared.goto(`${url}/roms/${tales}`)
  await press(shared, 'Write a note')
  await fill(shared, 'Title', 'Diary')
  await fill(shared, 'Text', 'For me alone')
  const readDrafts = () => shared.evaluate(() => sessionStorage.getItem('svc.drafts'))
  await shared.browserContext().deleteCookie(...await shared.browserContext().cookies())
  await press(shared, 'Save')
  await see(shared, 'Your session ended.')
  t.match(await readDrafts(), /For me alone/)
  await shared.locator('input[name=username]').fill('admin')
  await shared.locator('input[name=password]').fill('a password')
  await shared.keyboard.press('Enter')
  await shared.waitForSelector('.rom-head')
  t.equal(await readDrafts(), null)
  await shared.close()
})

t.test('the heart makes a game the first favourite, and takes that back', async (t) => {
  type Listed = { is_favorite: boolean, rom_ids: number[] }[]
  const listFavorites = async () => (await app.inject({ url: '/api/collections', headers: admin })).json<Listed>()
    .filter((one) => one.is_favorite).map(({ rom_ids: ids }) => ids)
  await page.goto(`${url}/roms/${harbor}`)
  await press(page, 'Add to favourites')
  await page.waitForSelector('.rom-heart [aria-label="Remove from favourites"]')
  t.same(await listFavorites(), [[harbor]])
  await press(page, 'Remove from favourites')
  await page.waitForSelector('.rom-heart [aria-label="Add to favourites"]')
  t.same(await listFavorites(), [[]])
})

t.test('the last step of a rating stays, also if requests overtake each other', async (t) => {
  await page.goto(`${url}/roms/${harbor}`)
  await page.waitForSelector('input[name=rating]')
  const held: HTTPRequest[] = []
  let isHolding = true
  const hold = (request: HTTPRequest) => {
    if (isHolding && request.url().endsWith('/props')) held.push(request)
    else void request.continue()
  }
  await page.setRequestInterception(true)
  page.on('request', hold)
  await page.focus('input[name=rating]')
  await page.keyboard.press('Space')
  for (const step of [2, 3]) {
    await page.keyboard.press('ArrowRight')
    await see(page, String(step), '.rom-scale .number')
  }
  await until(() => held.length > 0, 'the first request')
  isHolding = false
  for (const request of held.toReversed()) {
    const ended = page.waitForResponse((response) => response.request() === request)
    await request.continue()
    await ended
  }
  await until(async () => (await read(harbor)).rom_user.rating === 3, 'the last step is stored')
  page.off('request', hold)
  await page.setRequestInterception(false)
  t.ok(await page.$('input[name=rating][value="3"]:checked'))
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

t.test('a save that fails does not stop the upload of the next one', async (t) => {
  const folder = t.testdir({ 'Lost.srm': 'lost', 'Next.srm': 'next' })
  await page.goto(`${url}/roms/${tales}?tab=saves`)
  const input = await page.waitForSelector('.save-upload input[type=file]')
  let sent = 0
  const loseFirst = (request: HTTPRequest) => {
    void (request.method() === 'POST' && sent++ === 0 ? request.abort('internetdisconnected') : request.continue())
  }
  page.on('request', loseFirst)
  await page.setRequestInterception(true)
  await (input as ElementHandle<HTMLInputElement>).uploadFile(...['Lost.srm', 'Next.srm'].map((name) => join(folder, name)))
  await see(page, '“Lost.srm” is not stored: The server does not answer', '.toast')
  await see(page, '“Next.srm” is stored.', '.toast')
  page.off('request', loseFirst)
  await page.setRequestInterception(false)
  t.same((await read(tales)).user_saves.map(({ file_name: name }) => name), ['Next.srm'])
})

t.test('a button that deletes stays busy until the list has loaded without its row', async (t) => {
  await addSave(harbor, 'Once.srm', 'once')
  await app.inject({ method: 'POST', url: `/api/roms/${harbor}/notes`, headers: admin, payload: { title: 'Once', content: '' } })
  for (const [view, name, notice] of [['?tab=saves', 'Delete Once.srm', '“Once.srm” is deleted.'], ['', 'Delete “Once”', '“Once” is deleted.']] as const) {
    await page.goto(`${url}/roms/${harbor}${view}`)
    await page.waitForSelector(`button[aria-label="${name}"]`)
    const held: HTTPRequest[] = []
    const deletions: string[] = []
    let isSlow = true
    const hold = (request: HTTPRequest) => {
      const [method, path] = [request.method(), new URL(request.url()).pathname]
      if (method === 'DELETE' || path.endsWith('/delete')) deletions.push(path)
      if (isSlow && method === 'GET' && path === `/api/roms/${harbor}`) held.push(request)
      else void request.continue()
    }
    page.on('request', hold)
    await page.setRequestInterception(true)
    await press(page, name)
    await see(page, notice, '.toast')
    t.equal(await page.$eval(`button[aria-label="${name}"]`, (button) => button.getAttribute('aria-busy')), 'true', name)
    await page.keyboard.press('Enter')
    await until(() => held.length > 0, 'the list is asked for')
    isSlow = false
    for (const request of held) await request.continue()
    await page.waitForSelector(`button[aria-label="${name}"]`, { hidden: true })
    page.off('request', hold)
    await page.setRequestInterception(false)
    t.equal(deletions.length, 1, `${name} is sent once`)
  }
})

t.test('the return to a tab shows marks and saves that changed elsewhere', async (t) => {
  await page.goto(`${url}/roms/${harbor}?tab=saves`)
  await see(page, 'No status', '.rom-card option')
  await app.inject({ method: 'PUT', url: `/api/roms/${harbor}/props`, headers: admin, payload: { status: 'finished' } })
  await addSave(harbor, 'From the handheld.srm', 'handheld')
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
  await see(page, 'From the handheld.srm', '.timeline')
  t.equal(await page.evaluate("document.querySelector('.rom-card select').value"), 'finished')
})

t.test('a selection of text that ends beside a dialog leaves it open', async (t) => {
  await page.goto(`${url}/roms/${harbor}`)
  await press(page, 'Write a note')
  await fill(page, 'Title', 'The code of the door')
  const box = await (await page.$('dialog[open] input'))?.boundingBox()
  if (box == null) throw new Error('There is no field')
  await page.mouse.move(box.x + box.width - 20, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(5, box.y, { steps: 4 })
  await page.mouse.up()
  t.equal(await page.evaluate(() => document.querySelector<HTMLInputElement>('dialog[open] input')?.value), 'The code of the door')
  await page.mouse.click(5, box.y)
  await page.waitForFunction(() => document.querySelector('dialog[open]') === null)
})

t.test('the way back to another game closes a note, which it would be stored at', async () => {
  await page.goto(`${url}/roms/${tales}`)
  await see(page, 'Harbor Tales', 'h1')
  await page.evaluate(`history.pushState(null, '', 'roms/${harbor}'); dispatchEvent(new PopStateEvent('popstate'))`)
  await see(page, 'Chrono Harbor', 'h1')
  await press(page, 'Write a note')
  await fill(page, 'Title', 'The code of the door')
  await page.goBack()
  await see(page, 'Harbor Tales', 'h1')
  await page.waitForFunction(() => document.querySelector('dialog[open]') === null)
})

t.test('letters that are typed while the script of the search loads are searched', async () => {
  await page.goto(`${url}/platforms`, { waitUntil: 'networkidle0' })
  const held: HTTPRequest[] = []
  let isSlow = true
  const hold = (request: HTTPRequest) => { if (isSlow) held.push(request); else void request.continue() }
  page.on('request', hold)
  await page.setRequestInterception(true)
  await page.keyboard.type('/harb')
  await until(() => held.some((request) => request.resourceType() === 'script'), 'the script is asked for')
  await page.keyboard.type('or')
  isSlow = false
  for (const request of held) await request.continue()
  await page.waitForFunction(() => document.querySelector<HTMLInputElement>('.palette-input')?.value === 'harbor')
  page.off('request', hold)
  await page.setRequestInterception(false)
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
