import t from 'tap'
import { resetVault, vault } from '../fixtures/vault.ts'
import { buildScanTest } from '../scans/support.ts'

const { app, admin, createUser, put, scan, rom, sql } = await buildScanTest(t, {
  providers: ['shelf', 'vault'],
  config: { filesystem: { skip_hash_calculation: true }, scan: { priority: { metadata: ['vault', 'shelf'] } } }
})
await put({ 'roms/gb/Chrono (Japan).gb': 'tale' })
await scan()
const { id } = await rom('gb', 'Chrono (Japan).gb')
const zoe = await createUser('zoe')

t.beforeEach(() => { resetVault() })

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const change = async (fields: Record<string, string>, { query = '', headers = admin }: { query?: string, headers?: object } = {}) =>
  await app.inject({
    method: 'PUT', url: `/api/roms/${id}${query}`, headers: { ...headers, ...FORM }, payload: new URLSearchParams(fields).toString()
  })

t.test('a chosen game is loaded by its id, stored, and suggested to other providers', async (t) => {
  const asked: number[] = []
  vault.getById = (wanted) => {
    asked.push(wanted)
    return { id: wanted, name: 'Chrono Harbor', summary: 'Islands', slug: 'chrono-harbor', genres: ['Racing'] }
  }
  const answer = await change({ vault_id: '41', shelf_id: '' })
  t.equal(answer.statusCode, 200, answer.body)
  t.match(answer.json(), { id, vault_id: 41, name: 'Chrono Harbor', summary: 'Islands', slug: 'chrono-harbor', is_identified: true })
  t.same(vault.suggested, [{ vault: 41 }])
  t.equal((await change({ vault_id: '41' })).statusCode, 200)
  t.same(asked, [41], 'what is not changed is not asked for again')
})

t.test('a multipart form works too, and another game does not replace the name', async (t) => {
  vault.getById = (wanted) => ({ id: wanted, name: 'Other', slug: 'other' })
  const payload = '--x\r\ncontent-disposition: form-data; name="vault_id"\r\n\r\n42\r\n--x--\r\n'
  const answer = await app.inject({
    method: 'PUT', url: `/api/roms/${id}`, headers: { ...admin, 'content-type': 'multipart/form-data; boundary=x' }, payload
  })
  t.match(answer.json(), { vault_id: 42, name: 'Chrono Harbor', slug: 'other' })
})

t.test('an unknown field is ignored', async (t) => {
  const answer = await change({ vault_id: '41', colour: 'red' })
  t.match(answer, { statusCode: 200 }, answer.body)
  t.match(answer.json(), { vault_id: 41 })
})

t.test('an id without a game is stored alone, and an invalid or empty id is ignored', async (t) => {
  vault.getById = () => { throw new Error('down') }
  t.match((await change({ vault_id: '43', shelf_id: 'x' })).json(), { vault_id: 43, shelf_id: 'x', slug: null })
  t.match((await change({ vault_id: 'many' })).json(), { vault_id: null, shelf_id: 'x', is_identified: true })
  t.match((await change({ shelf_id: '' })).json(), { vault_id: null, shelf_id: null, is_identified: false })
  t.same(await sql('select provider from rom_matches where rom_id = $1', [id]), [])
})

t.test('unmatching removes all matches and ignores the rest of the form', async (t) => {
  vault.getById = (wanted) => ({ id: wanted, name: 'Chrono Harbor', summary: 'Islands', genres: ['Racing'] })
  await change({ vault_id: '41' })
  vault.suggested = []
  const answer = await change({ vault_id: '44' }, { query: '?unmatch_metadata=true' })
  t.match(answer.json(), { vault_id: null, name: 'Chrono (Japan).gb', summary: null, is_identified: false, regions: ['Japan'] })
  t.same(vault.suggested, [])
})

t.test('only callers who may write and see the ROM can match it', async (t) => {
  vault.getById = () => { throw new Error('asked') }
  t.equal((await change({ vault_id: '41' }, { headers: zoe })).statusCode, 403)
  t.equal((await change({ vault_id: '41' }, { headers: {} })).statusCode, 401)
  const missing = await app.inject({ method: 'PUT', url: '/api/roms/999999', headers: admin, payload: { vault_id: '41' } })
  t.equal(missing.statusCode, 404)
  t.same(await sql('select provider from rom_matches where rom_id = $1', [id]), [])
})
