import { randomBytes } from 'node:crypto'
import t from 'tap'
import { PNG, createClient, md5Of } from '../assets/support.ts'
import { until } from '../../until.ts'
import { addGame, createRetroArch } from './support.ts'
import { ONE, SAVE, listFiles, listSaves, startWebdav, THREE, TWO } from './webdav-support.ts'

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

t.test('a device that only sends gets no file and replaces those of others', async (t) => {
  const { test, deck, phone, client } = await start(t)
  await addGame(test)
  await test.app.pg.query("update devices set sync_mode = 'push_only' where name = 'Phone'")
  const config = 'config/retroarch.opt'
  deck.files.set(SAVE, ONE).set(config, ONE)
  await deck.sync()
  await phone.sync()
  t.equal(phone.files.size, 0)
  t.equal((await phone.send('GET', SAVE)).status, 403)
  phone.files.set(SAVE, TWO).set(config, TWO)
  await phone.sync()
  await phone.sync()
  t.same([...await phone.readList()].sort(), [[SAVE, md5Of('two')], [config, md5Of('two')]].sort(), 'its own files are listed')
  await deck.sync()
  t.same([deck.files.get(SAVE), deck.files.get(config)], [TWO, TWO])
  const [save, ...copies] = await listSaves(client)
  t.same(copies, [], 'the server stores no conflict copy')
  t.equal((await client.versions(save?.id ?? 0)).length, 1)
  deck.files.set(SAVE, THREE)
  await deck.sync()
  for (let round = 0; round < 3; round++) await phone.sync()
  await deck.sync()
  t.same([deck.files.get(SAVE), phone.files.get(SAVE)], [THREE, TWO], 'its old file does not replace a newer one')
  deck.files.delete(SAVE)
  await deck.sync()
  for (let round = 0; round < 3; round++) await phone.sync()
  t.same(phone.files.get(SAVE), TWO)
})

const NAMES = ['é & <b>.srm', 'e\u0301.srm', 'Ünï 100% #1?.srm', 'a~b\'"*.srm', '…\u{1F3AE}.srm', '???.srm', 'a\\b.srm', ' . .srm']

t.test('odd names come back byte for byte and ignore only ASCII case', async (t) => {
  const { deck, phone, client } = await start(t)
  for (const [index, name] of NAMES.entries()) deck.files.set(`saves/Snes9x/${name}`, Buffer.from(`save ${index}`))
  await deck.sync()
  await phone.sync()
  t.same([...phone.files].sort(), [...deck.files].sort())
  t.equal((await phone.send('GET', 'saves/SNES9X/É & <b>.srm')).status, 410, 'É is not é')
  t.equal((await phone.send('GET', 'SAVES/SNES9X/A~B\'"*.SRM')).status, 200)
  t.equal((await listFiles(client)).length, NAMES.length)
})
