import { randomBytes } from 'node:crypto'
import t from 'tap'
import { PNG, createClient, md5Of } from '../assets/support.ts'
import { until } from '../../until.ts'
import { addGame, createRetroArch } from './support.ts'
import { ONE, SAVE, listFiles, listSaves, startWebdav } from './webdav-support.ts'

const { fresh, start } = await startWebdav(t)

t.test('a device that deletes most files gets them back, and its owner is notified', async (t) => {
  const { test, deck, phone, client } = await start(t)
  for (let number = 0; number < 6; number++) {
    await addGame(test, `Game ${number}`)
    deck.files.set(`saves/Snes9x/Game ${number}.srm`, Buffer.from(`save ${number}`))
  }
  await deck.sync()
  await phone.sync()
  deck.files.clear()
  await deck.sync()
  await phone.sync()
  t.equal(phone.files.size, 6)
  await deck.sync()
  t.equal(deck.files.size, 6)
  const { body } = await client.call('GET', '/api/notifications')
  t.match(body, /deletions_reverted/)
})

t.test('uploads beside a burst of deletions all succeed', async (t) => {
  const { test, deck } = await start(t)
  await addGame(test)
  const paths = ['srm', 'rtc', 'nv', 'hi', 'eep'].map((extension) => `saves/Snes9x/Game (USA).${extension}`)
  const [last = '', ...others] = paths
  for (let round = 0; round < 4; round++) {
    await Promise.all(paths.map((path) => deck.put(path, randomBytes(20))))
    for (const path of others) await deck.delete(path)
    const replies = await Promise.all([deck.delete(last), ...others.map((path) => deck.put(path, randomBytes(20)))])
    t.ok(replies.every(({ status }) => status === 201), replies.map(({ status }) => status).join(' '))
  }
})

t.test('a scan that finds the game assigns its saves', async (t) => {
  const test = await fresh(t, { library: { roms: { snes: { 'Game (USA).sfc': 'a game' } } } })
  const deck = await createRetroArch(t, test, test.admin, 'Deck')
  const client = createClient(test, test.admin)
  await deck.put(SAVE, ONE)
  await deck.put('states/Snes9x/Game (USA).state.png', PNG)
  t.match(await listSaves(client), [])
  t.equal((await client.call('POST', '/api/tasks/run/scan_library', {})).statusCode, 200)
  await until(async () => (await listFiles(client, '/unassigned')).length === 0, 'the assignment of all files')
  t.match(await listSaves(client), [{ file_name: 'Game (USA).srm', slot: 'autosave' }])
  t.equal((await deck.readList()).get(SAVE), md5Of('one'), 'the save stays listed')
})
