import { mock } from 'node:test'
import fc from 'fast-check'
import t from 'tap'
import { type TestApp, buildTestApp, shareTestApp } from '../../support.ts'
import { addRom } from './support.ts'

const fresh = shareTestApp(t)

/** The facts about a ROM that decide its collections. */
interface Facts {
  region: 'Europe' | 'USA'
  isApple: boolean
  game: string | null
  isFinished: boolean
  isHidden: boolean
  isForbidden: boolean
  isVerified: boolean
}
type Model = Map<number, Facts>

const COLLECTIONS: Record<string, { criteria: object, contains (facts: Facts, others: readonly Facts[]): boolean }> = {
  European: { criteria: { regions: ['Europe'] }, contains: ({ region }) => region === 'Europe' },
  Foreign: { criteria: { regions: ['Europe'], regions_logic: 'none' }, contains: ({ region }) => region !== 'Europe' },
  Apples: { criteria: { search_term: 'apple' }, contains: ({ isApple }) => isApple },
  Matched: { criteria: { matched: true }, contains: ({ game }) => game !== null },
  Twins: {
    criteria: { duplicate: true },
    contains: ({ game }, others) => game !== null && others.some((other) => other.game === game && !other.isForbidden)
  },
  Finished: { criteria: { statuses: ['finished'] }, contains: ({ isFinished }) => isFinished },
  Verified: { criteria: { verified: true }, contains: ({ isVerified }) => isVerified }
}

/** Lists the collections of a ROM by the model; null for a ROM that the user does not see. */
function listExpected (model: Model, id: number): string[] | null {
  const facts = model.get(id)
  if (facts === undefined || facts.isForbidden) return null
  const others = [...model].flatMap(([other, its]) => other === id ? [] : [its])
  return facts.isHidden ? [] : Object.keys(COLLECTIONS).filter((name) => COLLECTIONS[name]?.contains(facts, others))
}

type Headers = TestApp['admin']

/** Lists the collections that a page about a ROM names; null if there is no page. */
async function listNamed ({ app }: TestApp, headers: Headers, id: number): Promise<string[] | null> {
  const reply = await app.inject({ url: `/api/roms/${id}`, headers })
  if (reply.statusCode === 404) return null
  return reply.json<{ user_collections: { name: string }[] }>().user_collections.map(({ name }) => name)
}

interface Step { kind: keyof Facts | 'gone', at: number, value: boolean, asksOther: boolean, isLater: boolean }
const steps = fc.array(fc.record<Step>({
  kind: fc.constantFrom('region', 'isApple', 'game', 'isFinished', 'isHidden', 'isForbidden', 'isVerified', 'gone'),
  at: fc.nat({ max: 3 }), value: fc.boolean(), asksOther: fc.boolean(), isLater: fc.boolean()
}), { minLength: 6, maxLength: 12 })

interface World { test: TestApp, alice: Headers, model: Model, roms: number[] }

async function addModelled ({ test, model }: Pick<World, 'test' | 'model'>, number: number): Promise<number> {
  const id = await addRom(test, { fs_name: `Berry ${number} (USA).sfc` })
  model.set(id, {
    region: 'USA', isApple: false, game: null, isFinished: false, isHidden: false, isForbidden: false, isVerified: false
  })
  return id
}

const MATCH = "insert into rom_matches (rom_id, provider, provider_id, match) values ($1, 'igdb', '7', '{\"id\": 7}') on conflict do nothing"
const FORBID = `insert into hidden_entities (entity, entity_id, user_id)
  select 'roms', $1, id from users where username = 'alice' on conflict do nothing`

/** Makes a change in the database or over the API, and in the model. */
async function change ({ test, alice, model, roms }: World, { kind, at, value }: Step): Promise<void> {
  const { app } = test
  const id = roms[at] ?? 0
  const facts = model.get(id)
  const run = (text: string) => app.pg.query(text, [id])
  const mark = (payload: object) => app.inject({ method: 'PUT', url: `/api/roms/${id}/props`, headers: alice, payload })
  if (kind === 'gone') {
    await run('delete from roms where id = $1')
    model.delete(id)
    roms[at] = await addModelled({ test, model }, at)
    return
  }
  if (facts === undefined || (facts.isForbidden && (kind === 'isHidden' || kind === 'isFinished'))) return
  const changes: Record<keyof Facts, () => Promise<unknown>> = {
    region: () => run(`update roms set regions = '{${value ? 'Europe' : 'USA'}}' where id = $1`),
    isApple: () => run(`update roms set name = '${value ? 'Apple' : 'Berry'}' where id = $1`),
    game: () => run(value ? MATCH : 'delete from rom_matches where rom_id = $1'),
    isFinished: () => mark({ status: value ? 'finished' : 'retired' }),
    isHidden: () => mark({ hidden: value }),
    isForbidden: () => run(value ? FORBID : "delete from hidden_entities where entity = 'roms' and entity_id = $1"),
    isVerified: () => run(value
      ? "insert into rom_dumps (rom_id, status, compared_at) values ($1, 'verified', now()) on conflict do nothing"
      : 'delete from rom_dumps where rom_id = $1')
  }
  await changes[kind]()
  const facets: Partial<Facts> = { region: value ? 'Europe' : 'USA', game: value ? '7' : null }
  model.set(id, { ...facts, [kind]: kind in facets ? facets[kind] : value })
}

t.test('a ROM names its smart collections after any changes, in each worker', async (t) => {
  const test = await fresh(t)
  const other = await buildTestApp(t, { databaseUrl: test.databaseUrl, withoutAdmin: true })
  const alice = await test.createUser('alice')
  for (const [name, { criteria }] of Object.entries(COLLECTIONS)) {
    await test.app.pg.query(`insert into smart_collections (user_id, name, filter_criteria)
      select id, $1, $2 from users where username = 'alice'`, [name, criteria])
  }
  const model: Model = new Map()
  const world: World = { test, alice, model, roms: [] }
  for (let at = 0; at < 4; at++) world.roms.push(await addModelled(world, at))
  const now = performance.now.bind(performance)
  let laterMs = 0
  const clock = mock.method(performance, 'now', () => now() + laterMs)
  t.teardown(() => { clock.mock.restore() })
  await fc.assert(fc.asyncProperty(steps, async (all) => {
    for (const step of all) {
      await change(world, step)
      for (const id of world.roms) {
        // A collection is read whole once nothing has changed for a second.
        if (step.isLater) laterMs += 1_001
        const named = await listNamed(step.asksOther ? other : test, alice, id)
        t.same(named?.toSorted() ?? null, listExpected(model, id)?.toSorted() ?? null, `${id} after ${JSON.stringify(step)}`)
      }
    }
  }), { numRuns: 5, endOnFailure: true })
})
