import type { ImportRecord } from '../../contract.ts'
import { fileIn } from '../files.ts'
import { readValues, type Values } from '../values.ts'
import { groupBy, need, readBatches, readRecords, type RommSource, TIMES, timesOf, UnreadableRecordError } from './source.ts'

type Grant = ImportRecord<'group'>['grants'][number]

const LIBRARY = ['firmware', 'platforms', 'roms']
const SHARED = ['assets', 'collections', 'playlists']
const MEMBER_GRANTS = [
  ...[...LIBRARY, ...SHARED].map((entity) => `${entity} read`),
  'devices read own',
  ...[...SHARED, 'devices'].flatMap((entity) => [`${entity} write own`, `${entity} delete own`])
]
const EDITOR_GRANTS = [...MEMBER_GRANTS, ...LIBRARY.flatMap((entity) => [`${entity} write`, `${entity} delete`])]

/** The groups that RomM 5.0 made of the former roles, while nobody changed them, and the groups here that are equal. */
const LEGACY_GROUPS = [
  { name: 'viewer (legacy)', grants: serialize(MEMBER_GRANTS), group: 'Members' },
  { name: 'editor (legacy)', grants: serialize(EDITOR_GRANTS), group: 'Editors' }
]
/** The groups for the roles of RomM 4. */
const ROLE_GROUPS = new Map([['viewer', 'Members'], ['editor', 'Editors']])

const GROUP_COLUMNS = ['id', 'name', 'description', 'color', 'is_default', 'is_system', ...TIMES] as const
const GRANT_COLUMNS = ['group_id', 'entity', 'action', 'own_only'] as const
const USER_COLUMNS = ['id', 'username', 'email', 'hashed_password', 'role', 'enabled', 'permission_group_id', 'avatar_path',
  'ra_username', 'ui_settings', 'last_login', 'last_active', ...TIMES] as const
const OVERRIDE_COLUMNS = ['user_id', 'entity', 'action', 'own_only', 'granted'] as const
const HIDDEN_COLUMNS = ['id', 'entity', 'entity_id', 'user_id', 'group_id'] as const

/** Lists the groups of RomM 5, except those of former roles that equal groups of this server. */
export async function * listGroups (source: RommSource): AsyncGenerator<ImportRecord<'group'>> {
  for await (const group of readGroups(source)) {
    if (findLegacyGroup(group) === undefined) yield group
  }
}

export async function * listUsers (source: RommSource): AsyncGenerator<ImportRecord<'user'>> {
  const legacyGroups = new Map<string, string>()
  // The list of groups reports what is wrong with them.
  for await (const group of readGroups({ ...source, context: { ...source.context, skip () {} } })) {
    const legacy = findLegacyGroup(group)
    if (legacy !== undefined) legacyGroups.set(group.id, legacy)
  }
  yield * readBatches(source, { kind: 'user', table: 'users', columns: USER_COLUMNS }, async (users) => {
    const ids = users.map((user) => user.text('id') ?? '')
    const overrides = groupBy(
      await source.tables.readWhere('user_permission_overrides', OVERRIDE_COLUMNS, 'user_id', ids), 'user_id')
    return users.map((user, index) => () => {
      const own = (overrides.get(ids[index] ?? '') ?? [])
        .map((row) => readValues(row, (column) => { source.noteOdd('user_permission_overrides', column, ids[index] ?? '') }))
        .map((values) => ({ ...toGrant(values), is_granted: values.flag('granted') }))
      return toUser(user, legacyGroups, own)
    })
  })
}

export async function * listHidden (source: RommSource): AsyncGenerator<ImportRecord<'hidden'>> {
  yield * readRecords(source, { kind: 'hidden', table: 'hidden_entities', columns: HIDDEN_COLUMNS }, (row) => {
    const entity = need(row.word('entity'), 'entity')
    if (entity !== 'platforms' && entity !== 'roms') {
      throw new UnreadableRecordError(`only platforms and ROMs are hidden here, not ${entity}`)
    }
    return {
      entity,
      entity_id: need(row.text('entity_id'), 'entity_id'),
      user_id: row.text('user_id'),
      group_id: row.text('group_id')
    }
  })
}

async function * readGroups (source: RommSource): AsyncGenerator<ImportRecord<'group'>> {
  yield * readBatches(source, { kind: 'group', table: 'permission_groups', columns: GROUP_COLUMNS }, async (groups) => {
    const ids = groups.map((group) => group.text('id') ?? '')
    const grants = groupBy(await source.tables.readWhere('permission_group_grants', GRANT_COLUMNS, 'group_id', ids), 'group_id')
    return groups.map((group, index) => () => ({
      id: need(group.text('id'), 'id'),
      name: need(group.text('name'), 'name'),
      description: group.text('description'),
      color: group.text('color'),
      is_default: group.flag('is_default'),
      is_system: group.flag('is_system'),
      grants: (grants.get(ids[index] ?? '') ?? [])
        .map((row) => readValues(row, (column) => { source.noteOdd('permission_group_grants', column, ids[index] ?? '') }))
        .map(toGrant),
      ...timesOf(group)
    }))
  })
}

/** An entity or action that is not understood becomes a name that no server knows, so that the import reports it. */
function toGrant (row: Values<'entity' | 'action' | 'own_only'>): Grant {
  return { entity: row.word('entity') ?? '?', action: row.word('action') ?? '?', own_only: row.flag('own_only') }
}

function findLegacyGroup ({ name, grants }: ImportRecord<'group'>): string | undefined {
  const stored = serialize(grants.map(({ entity, action, own_only: isOwn }) => `${entity} ${action}${isOwn ? ' own' : ''}`))
  return LEGACY_GROUPS.find((legacy) => legacy.name === name.toLowerCase() && legacy.grants === stored)?.group
}

function serialize (grants: readonly string[]): string {
  return grants.toSorted().join(', ')
}

function toUser (
  row: Values<typeof USER_COLUMNS[number]>, legacyGroups: ReadonlyMap<string, string>,
  overrides: ImportRecord<'user'>['overrides']
): ImportRecord<'user'> {
  const role = need(row.word('role'), 'role')
  const groupId = row.text('permission_group_id')
  const groupName = groupId === null ? ROLE_GROUPS.get(role) : legacyGroups.get(groupId)
  return {
    id: need(row.text('id'), 'id'),
    username: need(row.text('username'), 'username'),
    email: row.text('email'),
    password_hash: row.text('hashed_password'),
    role: role === 'admin' ? 'admin' : 'user',
    is_enabled: row.flag('enabled'),
    group_id: groupName === undefined ? groupId : null,
    group_name: groupName ?? null,
    overrides,
    avatar: fileIn('assets', row.text('avatar_path')),
    ra_username: row.text('ra_username'),
    ui_settings: row.object('ui_settings'),
    last_login: row.time('last_login'),
    last_active: row.time('last_active'),
    ...timesOf(row)
  }
}
