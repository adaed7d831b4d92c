import t from 'tap'
import { type AssetItem, PNG, addDevice, createClient } from './support.ts'
import { startHistory } from './history-support.ts'

const { test, alice, newRom, readAll } = await startHistory(t)

const KEEP = ['both', 'original', 'copy'] as const

/** Uploads a save of two devices that changed it, each with a picture. */
async function createConflict () {
  const rom = await newRom()
  const [deck, phone] = [await addDevice(test, 'alice', 'Steam Deck'), await addDevice(test, 'alice', 'Phone')]
  const picture = [{ name: 'screenshotFile', fileName: 'picture.png', content: PNG }]
  const original = await alice.save({ rom_id: rom, device_id: deck.device_id }, 'Game.srm', `on the server ${rom}`, picture)
  const copy = await alice.save(
    { rom_id: rom, device_id: phone.device_id, conflict_of: original.id }, 'Game.srm', `on the phone ${rom}`, picture)
  const resolve = (keep: string, id = copy.id) => alice.call('POST', `/api/saves/${id}/resolve`, { keep })
  const list = () => alice.get<AssetItem[]>(`/api/saves?rom_id=${rom}`)
  return { rom, deck, phone, original, copy, resolve, list }
}

t.test('resolved with both, a copy becomes a save named by its device', async (t) => {
  const { original, copy, resolve, list, rom } = await createConflict()
  const reply = await resolve('both')
  t.match([reply.statusCode, reply.json()], [200, { id: copy.id, file_name: 'Game (Phone).srm', conflict_of: null, screenshot: { file_name: 'Game (Phone).srm.png' } }])
  t.same((await list()).map(({ id }) => id).sort(), [original.id, copy.id].sort())
  t.equal((await resolve('both')).statusCode, 409, 'there is nothing to resolve any more')
  const second = await alice.save({ rom_id: rom, conflict_of: original.id }, 'Game.srm', 'again')
  t.match((await resolve('both', second.id)).json(), { file_name: /^Game \(\d{4}-\d\d-\d\d\)\.srm$/ }, 'the day names a copy of an unknown device')
})

t.test('a conflict resolved with one side keeps the content of the other', async (t) => {
  const { original, copy, resolve, list, deck, phone, rom } = await createConflict()
  t.match((await resolve('copy')).json(), { id: original.id, file_name: 'Game.srm', sha1: copy.sha1, content_device_id: phone.device_id })
  t.same((await list()).map(({ id }) => id), [original.id])
  t.equal(await alice.content(`/api/saves/${original.id}/content`), `on the phone ${rom}`)
  t.match(await alice.versions(original.id), [{ sha1: original.sha1, content_device_id: deck.device_id }])
  t.equal((await alice.call('POST', `/api/saves/${copy.id}/restore`)).statusCode, 200, 'the copy can come back')
  t.equal((await resolve('original')).statusCode, 200)
  t.match(await list(), [{ id: original.id, sha1: copy.sha1 }])
})

t.test('a conflict whose original was deleted can still be resolved', async (t) => {
  for (const keep of KEEP) {
    const { original, copy, resolve, list } = await createConflict()
    await alice.call('POST', '/api/saves/delete', { saves: [original.id] })
    const reply = await resolve(keep)
    t.equal(reply.statusCode, 200, reply.body)
    const left = keep === 'both'
      ? { id: copy.id, file_name: 'Game (Phone).srm', conflict_of: null }
      : { id: original.id, sha1: (keep === 'copy' ? copy : original).sha1, screenshot: { file_name: 'Game.srm.png' } }
    t.match(await list(), [left])
    t.equal((await list()).length, 1)
  }
})

t.test('a copy whose original is gone for good becomes a save of its own', async (t) => {
  const { original, copy, resolve, list } = await createConflict()
  await alice.call('POST', '/api/saves/delete', { saves: [original.id] })
  await test.app.pg.query('delete from assets where id = $1', [original.id])
  t.equal((await resolve('copy')).statusCode, 200)
  t.match(await list(), [{ id: copy.id, sha1: copy.sha1, conflict_of: null }])
})

t.test('of several resolutions at once one succeeds, and no content is lost', async (t) => {
  const { rom, original, copy, resolve, list } = await createConflict()
  const replies = await Promise.all([...KEEP, ...KEEP].map((keep) => resolve(keep)))
  const outcomes = replies.map(({ statusCode }) => statusCode)
  t.equal(outcomes.filter((status) => status === 200).length, 1, outcomes.join())
  t.ok(outcomes.every((status) => [200, 404, 409].includes(status)), outcomes.join())
  t.ok((await list()).every(({ conflict_of: of }) => of === null))
  const all = await readAll(rom)
  t.ok(all.has(original.sha1) && all.has(copy.sha1))
})

t.test('only the owner resolves a conflict', async (t) => {
  const { copy, original, resolve } = await createConflict()
  const bob = createClient(test, await test.createUser(`bob ${copy.id}`))
  t.equal((await bob.call('POST', `/api/saves/${copy.id}/resolve`, { keep: 'original' })).statusCode, 404)
  t.equal((await resolve('both', original.id)).statusCode, 409, 'the original is no copy')
  t.equal((await resolve('neither')).statusCode, 422)
})
