import { InvalidSettingsError } from '@svc/plugin-sdk'
import t from 'tap'
import { resetVault, vault } from '../fixtures/vault.ts'
import { buildScanTest } from '../scans/support.ts'

const { app, admin, createUser, put, scan, rom, finished } = await buildScanTest(t, {
  providers: ['ra', 'vault'], config: { filesystem: { skip_hash_calculation: true } }
})
const zoe = await createUser('zoe')
const tom = await createUser('tom')

t.beforeEach(resetVault)

const get = async (headers: object, url = '/api/users/me') =>
  (await app.inject({ url, headers: { ...headers } })).json<Record<string, unknown>>()
const idOf = async (headers: object) => Number((await get(headers)).id)
const set = async (headers: object, payload: object) =>
  await app.inject({ method: 'PUT', url: `/api/users/${await idOf(headers)}`, headers: { ...headers }, payload })
const refresh = async (headers: object, payload?: object, id?: number) => await app.inject({
  method: 'POST', url: `/api/users/${id ?? await idOf(headers)}/ra/refresh`, headers: { ...headers },
  ...(payload === undefined ? {} : { payload })
})

t.test('each user sets the fields of a provider, and sees them beside its own', async (t) => {
  t.match(await get(zoe), { ra_username: null, ra_progression: null, vault_username: null, vault_progression: null })
  t.match((await set(zoe, { ra_username: ' zoe64 ', vault_username: 'zoe' })).json(), { ra_username: 'zoe64', vault_username: 'zoe' })
  t.match((await set(zoe, { vault_username: '' })).json(), { ra_username: 'zoe64', vault_username: 'zoe' }, 'empty changes nothing')
  t.match(await get(tom), { ra_username: null, vault_username: null })
  const refused = await set(zoe, { vault_username: 'x'.repeat(21) })
  t.equal(refused.statusCode, 422)
  t.match(refused.body, /vault_username/)
  const list = (await app.inject({ url: '/api/users', headers: admin })).json<{ username: string, ra_username: unknown }[]>()
  t.same(list.map((user) => user.ra_username), [null, null, 'zoe64'])
})

t.test("progress is read with the user's name, stored, and shown by user and game", async (t) => {
  vault.identify = () => ({ id: 5001 })
  await put({ 'roms/gb/Game.gb': 'game', 'roms/gb/Other.gb': 'other' })
  await scan({ platform_fs_slugs: ['gb'] })
  const { id } = await rom('gb', 'Game.gb')
  const names: string[] = []
  vault.progress = (name) => {
    names.push(name)
    return [{ id: 5001, num_awarded: 12, highest_award_kind: 'mastered' }, { id: 9, num_awarded: 1 }]
  }
  const answer = await refresh(zoe)
  t.equal(answer.statusCode, 200, answer.body)
  t.equal(answer.body, 'null')
  t.same(names, ['zoe64'])
  t.same((await get(zoe)).ra_progression, {
    total: 2,
    results: [{ rom_ra_id: 5001, num_awarded: 12, highest_award_kind: 'mastered' }, { rom_ra_id: 9, num_awarded: 1 }]
  })
  t.match(await get(zoe, `/api/roms/${id}`), { ra_id: 5001, ra_progress: { num_awarded: 12, highest_award_kind: 'mastered' } })
  t.match(await get(zoe, '/api/roms'), { items: [{ ra_progress: { num_awarded: 12 } }, {}] })
  t.match(await get(tom, `/api/roms/${id}`), { ra_id: 5001, ra_progress: null }, "nobody sees another's")
})

t.test('only an incremental refresh passes on the former progress', async (t) => {
  const before: unknown[] = []
  vault.progress = (_name, known) => {
    before.push(known)
    return [{ id: 5001, num_awarded: 13 }]
  }
  t.equal((await refresh(zoe, { incremental: true })).statusCode, 200)
  t.equal((await refresh(zoe, { incremental: false })).statusCode, 200)
  t.match(before, [[{ id: 5001, num_awarded: 12 }, { id: 9, num_awarded: 1 }], undefined])
  t.match(await get(zoe), { ra_progression: { total: 1 } })
})

t.test('a refused, missing or unknown name at the provider is reported', async (t) => {
  t.equal((await refresh(tom, undefined, await idOf(zoe))).statusCode, 403)
  t.match((await refresh(tom)).json(), { detail: "User 'tom' has no name at 'ra'; set ra_username" })
  t.equal((await refresh(tom)).statusCode, 404)
  vault.progress = () => { throw new InvalidSettingsError('There is no zoe64') }
  t.match(await refresh(zoe), { statusCode: 404, body: /There is no zoe64/ })
  vault.progress = () => { throw new Error('the service is down') }
  t.match(await refresh(zoe), { statusCode: 503, body: /the service is down/ })
  vault.progress = () => [{ id: 1, num_awarded: 'many' as never }]
  t.match(await refresh(zoe), { statusCode: 503, body: /'ra' returned progress whose 0\/num_awarded is wrong/ })
  t.match(await get(zoe), { ra_progression: { total: 1 } }, 'what was known stays')
})

t.test('another name at the provider starts anew', async (t) => {
  t.match((await set(zoe, { ra_username: 'zoe64' })).json(), { ra_progression: { total: 1 } }, 'the same name does not')
  t.match((await set(zoe, { ra_username: 'zoe65' })).json(), { ra_username: 'zoe65', ra_progression: null })
})

t.test('a task reads the progress of all users with a name, whatever fails for one', async (t) => {
  await set(tom, { vault_username: 'tom' })
  vault.progress = (name) => {
    if (name === 'zoe') throw new Error('the service is down')
    return [{ id: 7, num_awarded: 3 }]
  }
  const run = async () => {
    const answer = await app.inject({ method: 'POST', url: '/api/tasks/run/sync_vault_progress', headers: admin })
    return await finished(answer.json<{ task_id: string }>().task_id)
  }
  t.match(await run(), { status: 'finished', meta: { update_stats: { processed: 2, total: 2 } } })
  t.match(await get(tom), { vault_progression: { total: 1, results: [{ rom_vault_id: 7, num_awarded: 3 }] } })
  t.match(await get(zoe), { vault_progression: null })
  vault.progress = () => { throw new Error('the service is down') }
  t.match(await run(), { status: 'failed' })
})

t.test('the task marks games as the provider does, and keeps marks only a user can set', async (t) => {
  const { id } = await rom('gb', 'Game.gb')
  const read = async () => (await get(tom, `/api/roms/${id}`)).rom_user
  const mark = async (status: string) => {
    await app.inject({ method: 'PUT', url: `/api/roms/${id}/props`, headers: tom, payload: { data: { status } } })
  }
  const sync = async (status: 'incomplete' | 'finished' | 'completed_100') => {
    vault.progress = () => [{ id: 5001, num_awarded: 3, status }]
    const answer = await app.inject({ method: 'POST', url: '/api/tasks/run/sync_vault_progress', headers: admin })
    await finished(answer.json<{ task_id: string }>().task_id)
    return await read()
  }
  for (const status of ['finished', 'completed_100', 'incomplete'] as const) t.match(await sync(status), { status })
  await mark('finished')
  t.match(await sync('incomplete'), { status: 'incomplete' })
  for (const own of ['retired', 'never_playing']) {
    await mark(own)
    t.match(await sync('completed_100'), { status: own })
  }
})

t.test('a provider without allowance is not asked, and the caller learns until when', async (t) => {
  let calls = 0
  vault.progress = (_name, _before, { http }) => {
    calls++
    http.setAllowance({ name: 'day', remaining: 0, resetsAt: Date.UTC(2100, 0, 1) })
    return [{ id: 8, num_awarded: 1 }]
  }
  t.equal((await refresh(zoe)).statusCode, 200)
  t.match(await refresh(zoe), {
    statusCode: 503, body: /ra is not called: its allowance 'day' is used up; calls resume at 2100-01-01T00:00:00\+00:00/
  })
  t.equal(calls, 1)
})
