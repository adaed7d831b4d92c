import fc from 'fast-check'
import t from 'tap'
import { type AssetItem, PNG, type Query, addDevice, createClient, listStored, sha1Of } from './support.ts'
import { startHistory } from './history-support.ts'

const { test, alice, newRom, readAll } = await startHistory(t)

/** Number of sequences; `npm run soak` runs more. */
const RUNS = Number(process.env.SOAK_ROUNDS ?? 4)

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

const nameArbitrary = fc.constantFrom('Game.srm', 'Game.sav')
const slotArbitrary = fc.constantFrom(null, 'a', 'b')
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('upload' as const), name: nameArbitrary, slot: slotArbitrary, overwrite: fc.boolean(), cleans: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('replace' as const, 'delete' as const, 'keep' as const), at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('restore' as const, 'restore version' as const, 'copy' as const, 'resolve' as const), at: fc.nat(20) }) }
)

t.test('every accepted content stays available after any sequence of operations', async (t) => {
  await fc.assert(fc.asyncProperty(fc.array(operation, { minLength: 3, maxLength: 14 }), async (operations) => {
    const rom = await newRom()
    const accepted = new Set<string>()
    let uploads = 0
    const send = async (method: 'POST' | 'PUT', path: string, query: Query, fileName: string) => {
      const content = `${rom} ${++uploads}`
      const reply = await alice.send(method, path, query, [{ name: 'saveFile', fileName, content }])
      if (reply.statusCode === 200) accepted.add(sha1Of(content))
      else if (reply.statusCode >= 500) throw new Error(reply.body)
    }
    const pick = async (at: number, which = '') => {
      const url = which === '' ? `/api/saves?rom_id=${rom}` : '/api/saves/deleted'
      const rows = (await alice.get<AssetItem[]>(url)).filter(({ rom_id: of }) => of === rom)
      return rows[at % Math.max(rows.length, 1)] ?? null
    }
    for (const one of operations) {
      if (one.kind === 'upload') {
        await send('POST', '/api/saves', {
          rom_id: rom,
          overwrite: one.overwrite,
          autocleanup: one.cleans,
          autocleanup_limit: 1,
          slot: one.slot ?? undefined
        }, one.name)
        continue
      }
      const save = await pick(one.at, one.kind === 'restore' ? 'deleted' : '')
      if (save === null) continue
      if (one.kind === 'replace') await send('PUT', `/api/saves/${save.id}`, {}, 'x')
      else if (one.kind === 'keep') await send('POST', `/api/saves/${save.id}/versions`, {}, 'x')
      else if (one.kind === 'copy') await send('POST', '/api/saves', { rom_id: rom, conflict_of: save.id }, 'Game.srm')
      else if (one.kind === 'resolve') await alice.call('POST', `/api/saves/${save.id}/resolve`, { keep: KEEP[one.at % KEEP.length] })
      else if (one.kind === 'delete') await alice.call('POST', '/api/saves/delete', { saves: [save.id] })
      else if (one.kind === 'restore') await alice.call('POST', `/api/saves/${save.id}/restore`)
      else {
        const [version] = await alice.versions(save.id)
        if (version !== undefined) await alice.call('POST', `/api/saves/${save.id}/versions/${version.id}/restore`)
      }
    }
    const all = await readAll(rom)
    for (const sha1 of accepted) if (!all.has(sha1)) throw new Error(`Lost: ${sha1} of ${accepted.size}`)
  }), { numRuns: RUNS })
  const { rows } = await test.app.pg.query<{ disk_path: string }>('select disk_path from assets union select disk_path from asset_versions')
  t.same(new Set(await listStored(test)), new Set(rows.map((row) => row.disk_path)), 'every row has its file and every file its row')
})
