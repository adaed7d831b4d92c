import { ApiError } from '../../../core/errors.ts'
import { GRANT_ACTIONS, GRANT_ENTITIES, type Grant } from '../../../core/access/grants.ts'
import { isVerifiable } from '../../auth/password-hash.ts'
import {
  type ImportedHidden, findGroup, insertImportedGroup, insertImportedHidden, insertImportedOverrides
} from '../../permissions/import-rows.ts'
import { readEmail, readSettings, readUsername } from '../../users/account-fields.ts'
import { findAccount, insertImportedUser } from '../../users/import-rows.ts'
import { upsertProviderAccount } from '../../users/rows.ts'
import type { ImportRecord } from '../contract.ts'
import { type Batch, type Stored, type Writer, insertResolved, oneByOne, toTime, toTimes } from './writer.ts'

const RA_NAME_MAX = 26
const USERNAME_MIN = 3
const USERNAME_MAX = 255

const entities: readonly string[] = GRANT_ENTITIES
const actions: readonly string[] = GRANT_ACTIONS

/** Returns the grants that this server knows, and adds a sentence for each other. */
function readGrants<One extends { entity: string, action: string }> (
  { warn }: Batch['services'], owner: string, grants: readonly One[]
): (One & Grant)[] {
  const isKnown = ({ entity, action }: One) => entities.includes(entity) && actions.includes(action)
  for (const { entity, action } of grants.filter((grant) => !isKnown(grant))) {
    warn(`${owner}: this server has no permission '${entity}.${action}'; it was left out`)
  }
  return grants.filter(isKnown) as (One & Grant)[]
}

const toKeys = (grants: readonly Grant[]) =>
  grants.map((grant) => `${grant.entity}.${grant.action}.${String(grant.own_only)}`).sort().join()

async function writeGroup ({ tx, services }: Batch, record: ImportRecord<'group'>): Promise<Stored> {
  const grants = readGrants(services, `Group '${record.name}'`, record.grants)
  const existing = await findGroup(tx, record.name)
  if (existing !== null && toKeys(existing.grants) === toKeys(grants)) return { id: existing.id, as: 'present' }
  const name = existing === null ? record.name : `${record.name} (imported)`
  if (existing !== null) services.warn(`The group '${record.name}' has other permissions here; the imported one is called '${name}'`)
  const id = await insertImportedGroup(tx, { name, description: record.description ?? '', color: record.color }, grants)
  return id === null ? { reason: `a group '${name}' exists here with other permissions; rename it, then import again` } : { id, as: 'new' }
}

export const groupWriter: Writer<'group'> = {
  kind: 'group', idOf: ({ id }) => id, nameOf: ({ name }) => name, write: oneByOne(writeGroup)
}

/** Returns the result of a reader of fields, or null with a sentence in the report. */
function readOrWarn<T> ({ warn }: Batch['services'], owner: string, read: () => T): T | null {
  try {
    return read()
  } catch (err) {
    if (!(err instanceof ApiError)) throw err
    warn(`${owner}: ${err.message}; the value was left out`)
    return null
  }
}

async function findGroupId ({ tx, refs, services }: Batch, record: ImportRecord<'user'>): Promise<number | null> {
  const byId = (await refs.find('group', [record.group_id])).get(record.group_id ?? '')
  if (byId !== undefined) return byId
  if (record.group_name === null) return null
  const named = await findGroup(tx, record.group_name)
  if (named === null) services.warn(`User '${record.username}': there is no group '${record.group_name}' here; the default group applies`)
  return named?.id ?? null
}

async function readFreeEmail ({ tx, services }: Batch, record: ImportRecord<'user'>): Promise<string | null> {
  const owner = `User '${record.username}'`
  const email = record.email === null ? null : readOrWarn(services, owner, () => readEmail(record.email ?? ''))
  if (email === null || await findAccount(tx, { email }) === null) return email
  services.warn(`${owner}: another account here has the e-mail address; it was left out`)
  return null
}

function readHash ({ services }: Batch, { username, password_hash: hash }: ImportRecord<'user'>): string | null {
  if (hash !== null && isVerifiable(hash)) return hash
  services.warn(`User '${username}' has no password that this server can verify; send a reset link`)
  return null
}

/** Returns the name in its stored form; a name that is not allowed here gets `_` for other characters. */
function toUsername (given: string): string {
  const allowed = given.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, USERNAME_MAX).padEnd(USERNAME_MIN, '_')
  return readUsername(allowed)
}

/** A name that an account has here already means the same person. The account keeps its password and rights. */
async function writeUser (batch: Batch, record: ImportRecord<'user'>): Promise<Stored> {
  const { tx, services } = batch
  const owner = `User '${record.username}'`
  const username = toUsername(record.username)
  const existing = await findAccount(tx, { username })
  if (existing !== null && username !== record.username.toLowerCase()) {
    return { reason: `the name has characters that are not allowed here, and another account is called '${username}'; rename one of them, then import again` }
  }
  if (existing !== null) {
    services.warn(`${owner} has an account here, which gets the imported files and keeps its own password and rights`)
    return { id: existing.id, as: 'present' }
  }
  if (username !== record.username.toLowerCase()) services.warn(`${owner} signs in as '${username}', because the name has characters that are not allowed here`)
  const { ui_settings: given } = record
  const settings = given === null ? null : readOrWarn(services, owner, () => readSettings(given))
  const [keptId = null] = await services.keptIds.choose(tx, 'users', [record.id])
  const folder = crypto.randomUUID()
  const id = await insertImportedUser(tx, {
    id: keptId,
    username,
    email: await readFreeEmail(batch, record),
    password_hash: readHash(batch, record),
    role: record.role,
    enabled: record.is_enabled,
    permission_group_id: await findGroupId(batch, record),
    ui_settings: settings,
    last_login: toTime(record.last_login),
    last_active: toTime(record.last_active),
    folder,
    avatar_path: '',
    ...toTimes(record)
  })
  if (id === null) return { reason: 'another account got this name or id at the same moment; import again' }
  const overrides = readGrants(services, owner, record.overrides)
  await insertImportedOverrides(tx, id, overrides.map(({ is_granted: granted, ...grant }) => ({ ...grant, granted })))
  const { ra_username: raName } = record
  if (raName !== null && raName.length <= RA_NAME_MAX) await upsertProviderAccount(tx, id, 'ra', { ra_username: raName })
  tx.afterCommit(() => services.app.audit.record({
    event: 'user.created', address: '', details: { by: 'import', user_id: id, username, role: record.role }
  }))
  return { id, as: 'new' }
}

export const userWriter: Writer<'user'> = {
  kind: 'user', idOf: ({ id }) => id, nameOf: ({ username }) => username, write: oneByOne(writeUser)
}

export const hiddenWriter: Writer<'hidden'> = {
  kind: 'hidden',
  idOf: ({ entity, entity_id: id, user_id: user, group_id: group }) => `${entity}/${id}/${user ?? ''}/${group ?? ''}`,
  nameOf: ({ entity }) => entity,
  async write ({ tx, refs }, records) {
    const [roms, platforms, users, groups] = [
      await refs.find('rom', records.map((one) => one.entity === 'roms' ? one.entity_id : null)),
      await refs.find('platform', records.map((one) => one.entity === 'platforms' ? one.entity_id : null)),
      await refs.find('user', records.map((one) => one.user_id)),
      await refs.find('group', records.map((one) => one.group_id))
    ]
    return await insertResolved<ImportRecord<'hidden'>, ImportedHidden>(records, (record) => {
      const { entity, entity_id: oldId, user_id: user, group_id: group } = record
      const id = (entity === 'roms' ? roms : platforms).get(oldId)
      const [userId, groupId] = [users.get(user ?? ''), groups.get(group ?? '')]
      if (id === undefined) return { reason: `the ${entity === 'roms' ? 'ROM' : 'platform'} ${oldId} is not in the library here` }
      if ((userId === undefined) === (groupId === undefined)) return { reason: 'the user or group from whom it is hidden was not imported' }
      return { row: { entity, entity_id: id, user_id: userId ?? null, group_id: groupId ?? null } }
    }, (rows) => insertImportedHidden(tx, rows), 'it is hidden here already')
  }
}
