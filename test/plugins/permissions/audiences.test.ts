import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { type Access, type GrantEntity, isGranted } from '../../../core/access/grants.ts'
import { loadAccess, loadGuestAccess } from '../../../plugins/permissions/access-rows.ts'
import { findPlatformAudience, listAudiences } from '../../../plugins/permissions/audience-rows.ts'
import { isPlatformVisible } from '../../../plugins/platforms/visibility.ts'
import { selectVisibleRoms } from '../../../plugins/roms/visible-rows.ts'
import { openDb } from '../../open-db.ts'
import { createTestDatabase } from '../../support.ts'

const ROMS = [1, 2, 3]
const PLATFORMS = [1, 2]
/** An administrator, two users of the default group, a user of the other group, and a disabled account. */
const USERS = [1, 2, 3, 4, 5]
const ENABLED = USERS.slice(0, 4)
const GROUPS = [1, 2]
const GUEST = 0
const RUNS = 60

const { db, close } = await openDb(await createTestDatabase(t), 1)
t.teardown(close)
await db.query(`truncate permission_groups cascade;
  insert into permission_groups (id, name, is_default) values (1, 'Members', true), (2, 'Editors', false);
  insert into users (id, username, role, enabled, permission_group_id) values
    (1, 'admin', 'admin', true, null), (2, 'alice', 'user', true, null), (3, 'bob', 'user', true, 1), (4, 'carol', 'user', true, 2),
    (5, 'dora', 'user', false, null);
  insert into libraries (id, name, root) values (1, 'roms', '/roms');
  insert into platforms (id, slug, fs_slug, name) values (1, 'gb', 'gb', 'GB'), (2, 'nes', 'nes', 'NES');
  insert into roms (id, platform_id, fs_name, fs_path, fs_name_no_tags, fs_name_no_ext) values
    (1, 1, 'a', 'gb', 'a', 'a'), (2, 1, 'b', 'gb', 'b', 'b'), (3, 2, 'c', 'nes', 'c', 'c')`)

const limitsOf = (...hides: (boolean | null)[]) =>
  fc.record({ age_limit: fc.constantFrom(null, null, 6, 12), hide_unrated_roms: fc.constantFrom(...hides) })
const grant = fc.record({
  entity: fc.constantFrom('roms', 'platforms'), action: fc.constantFrom('read', 'write'), own_only: fc.boolean()
})
const READS = ['roms', 'platforms'].map((entity) => ({ entity, action: 'read', own_only: false }))
const everything = fc.constant(READS)
const few = <T>(one: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(one, { maxLength: 2 }))

/** Random rules; most groups read everything, and most users and objects have no rule of their own. */
const rules = fc.record({
  /** The only kind of rule that applies; null for all. */
  only: fc.constantFrom(null, null, 'groups', 'users', 'grants', 'overrides', 'hidden'),
  ages: fc.tuple(...ROMS.map(() => fc.constantFrom(null, 6, 12, 18))),
  groups: fc.tuple(...GROUPS.map(() => limitsOf(false, false, true))),
  users: fc.tuple(...USERS.map(() => limitsOf(null, null, true, false))),
  grants: fc.tuple(...GROUPS.map(() => fc.oneof({ weight: 2, arbitrary: everything },
    fc.uniqueArray(grant, { selector: ({ entity, action }) => `${entity}.${action}` })))),
  overrides: fc.tuple(...USERS.map(() => few(fc.record({ grant, granted: fc.boolean() })))),
  hidden: fc.array(fc.record({
    object: fc.oneof(fc.record({ entity: fc.constant('roms'), id: fc.constantFrom(...ROMS) }),
      fc.record({ entity: fc.constant('platforms'), id: fc.constantFrom(...PLATFORMS) })),
    user: fc.oneof(fc.constant(null), fc.constantFrom(...USERS)), group: fc.constantFrom(...GROUPS)
  }), { minLength: 1, maxLength: 3 })
})
type Rules = typeof rules extends fc.Arbitrary<infer Value> ? Value : never

const GRANTS = 'jsonb_populate_recordset(null::permission_grants, $1)'
const OVERRIDES = 'jsonb_populate_recordset(null::permission_overrides, $1)'

const NO_LIMITS = [{ age_limit: null, hide_unrated_roms: false }, { age_limit: null, hide_unrated_roms: null }] as const

async function store ({ only, ages, ...given }: Rules): Promise<void> {
  const applies = (kind: Rules['only']) => only === null || only === kind
  const groups = applies('groups') ? given.groups : GROUPS.map(() => NO_LIMITS[0])
  const users = applies('users') ? given.users : USERS.map(() => NO_LIMITS[1])
  const grants = applies('grants') ? given.grants : GROUPS.map(() => READS)
  const overrides = applies('overrides') ? given.overrides : []
  const hidden = applies('hidden') ? given.hidden : []
  const own = (lists: readonly (readonly object[])[], name: string) =>
    JSON.stringify(lists.flatMap((list, index) => list.map((one) => ({ ...one, [name]: index + 1 }))))
  await db.query('delete from permission_grants; delete from permission_overrides; delete from hidden_entities')
  await db.query('update roms set min_age = ($1::int[])[id]', [ages])
  for (const [table, rows] of [['permission_groups', groups], ['users', users]] as const) {
    await db.query(`update ${table} t set age_limit = g.age_limit, hide_unrated_roms = g.hide_unrated_roms
      from jsonb_to_recordset($1) as g (id int, age_limit int, hide_unrated_roms boolean) where t.id = g.id`,
    [JSON.stringify(rows.map((row, index) => ({ ...row, id: index + 1 })))])
  }
  await db.query(`insert into permission_grants select * from ${GRANTS}`, [own(grants, 'group_id')])
  await db.query(`insert into permission_overrides select * from ${OVERRIDES} on conflict do nothing`,
    [own(overrides.map((list) => list.map((one) => ({ ...one.grant, granted: one.granted }))), 'user_id')])
  for (const { object, user, group } of hidden) {
    await db.query('insert into hidden_entities (entity, entity_id, user_id, group_id) values ($1, $2, $3, $4) on conflict do nothing',
      [object.entity, object.id, user, user === null ? group : null])
  }
}

/** A caller as requests load it. */
interface Sees { id: number, access: Access }

async function loadCallers (): Promise<Sees[]> {
  const callers = [...await loadAccess(db, ENABLED)].map(([id, access]) => ({ id, access }))
  return [{ id: GUEST, access: await loadGuestAccess(db) }, ...callers]
}

const mayRead = ({ access }: Sees, entity: GrantEntity) => isGranted(access, entity, 'read', false)

async function seesPlatform (caller: Sees, id: number): Promise<boolean> {
  if (!mayRead(caller, 'platforms')) return false
  const { rows } = await sql`select 1 from platforms p where p.id = ${id} and ${isPlatformVisible(caller)}`.execute(db)
  return rows.length > 0
}

/** Returns the ids of the users among those who see an object; null if it is shown to everybody, guests included. */
const toAudience = (seenBy: readonly Sees[]): number[] | null =>
  seenBy.length === ENABLED.length + 1 ? null : seenBy.map(({ id }) => id).filter((id) => id !== GUEST)

const sorted = (ids: readonly number[] | null | undefined) => ids?.toSorted((a, b) => a - b) ?? null

t.test('events about a ROM reach exactly the users whose requests show it', async (t) => {
  await fc.assert(fc.asyncProperty(rules, fc.boolean(), async (given, readsOnly) => {
    await store(given)
    const callers = (await loadCallers()).filter((caller) => !readsOnly || mayRead(caller, 'roms'))
    const shown = await Promise.all(callers.map(async (caller) =>
      ({ caller, roms: await selectVisibleRoms({ db, caller }, ROMS) })))
    const found = await listAudiences(db, ROMS, readsOnly)
    for (const rom of ROMS) {
      const expected = toAudience(shown.filter(({ roms }) => roms.has(rom)).map(({ caller }) => caller))
      t.same(sorted(found.get(rom)), sorted(expected))
    }
  }), { numRuns: RUNS })
})

t.test('each kind of rule alone keeps the events about a ROM from a user', async (t) => {
  const none: Rules = {
    only: null,
    ages: [18, 18, 18],
    groups: [NO_LIMITS[0], NO_LIMITS[0]],
    users: USERS.map(() => NO_LIMITS[1]),
    grants: [READS, READS],
    overrides: USERS.map(() => []),
    hidden: []
  }
  const young = { age_limit: 6, hide_unrated_roms: false } as const
  const unrated = { age_limit: null, hide_unrated_roms: true } as const
  const rom = { entity: 'roms', id: 1 } as const
  const cases: Partial<Rules>[] = [
    { groups: [young, young] }, { groups: [unrated, unrated], ages: [null, null, null] },
    { users: USERS.map(() => young) }, { users: USERS.map(() => unrated), ages: [null, null, null] },
    { grants: [[], []] }, { overrides: USERS.map(() => [{ grant: { entity: 'roms', action: 'read', own_only: false }, granted: false }]) },
    { overrides: USERS.map(() => [{ grant: { entity: 'roms', action: 'read', own_only: true }, granted: true }]) },
    { hidden: [{ object: rom, user: 2, group: 1 }] }, { hidden: [{ object: rom, user: null, group: 1 }] },
    { hidden: [{ object: { entity: 'platforms', id: 1 }, user: 2, group: 1 }] }
  ]
  for (const one of cases) {
    await store({ ...none, ...one })
    const audience = (await listAudiences(db, ROMS, true)).get(1)
    t.same([audience?.includes(1), audience?.includes(2)], [true, false], JSON.stringify(one))
  }
  await store(none)
  t.same(await listAudiences(db, ROMS, true), new Map())
})

t.test('events about a platform reach no user from whom it is hidden, and all others', async (t) => {
  await fc.assert(fc.asyncProperty(rules, fc.constantFrom(...PLATFORMS), async (given, platform) => {
    await store(given)
    const callers = await loadCallers()
    const sees = await Promise.all(callers.map((caller) => seesPlatform(caller, platform)))
    const expected = toAudience(callers.filter((_caller, index) => sees[index]))
    const found = await findPlatformAudience(db, platform)
    // Rules may exist that concern nobody. The event then reaches all users, but no guest.
    t.same(sorted(found), sorted(expected ?? (found === null ? null : ENABLED)))
  }), { numRuns: RUNS })
})
