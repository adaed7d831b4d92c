import { UniqueConstraintViolationException } from '@mikro-orm/core'
import type { Db } from '../../core/database/db.ts'
import { deleteRow } from '../../core/database/delete-row.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { User } from '../users/entities.ts'
import { HiddenEntity } from './entities.ts'
import { PermissionGrant, PermissionGroup } from './group-entities.ts'
import { countMembers, lockGroups } from './rows.ts'
import type { CreateGroup, GivenGrant, GroupView, UpdateGroup } from './schemas.ts'

/** Finds a group and refreshes it, because the transaction may have an older copy. @throws ApiError NOT_FOUND */
export async function findGroup (db: Db, id: number): Promise<PermissionGroup> {
  const group = await db.em.findOne(PermissionGroup, { id }, { refresh: true })
  if (group === null) throw notFound(`Permission group with ID '${id}' not found`)
  return group
}

/** Returns groups by name, with their grants, hidden objects and numbers of members. */
async function toViews (db: Db, groups: readonly PermissionGroup[]): Promise<GroupView[]> {
  const ids = groups.map((group) => group.id)
  const grants = await db.em.find(PermissionGrant, { group: ids }, { orderBy: { entity: 'asc', action: 'asc' } })
  const hidden = await db.em.find(HiddenEntity, { group: ids }, { orderBy: { entity: 'asc', entity_id: 'asc' } })
  const counts = await countMembers(db)
  return groups.map((group) => ({
    id: group.id,
    name: group.name,
    description: group.description,
    is_default: group.is_default,
    is_system: group.is_system,
    color: group.color ?? null,
    grants: grants.filter((grant) => grant.group.id === group.id)
      .map(({ entity, action, own_only: ownOnly }) => ({ entity, action, own_only: ownOnly })),
    member_count: counts.get(group.id) ?? 0,
    hidden: hidden.filter((one) => one.group?.id === group.id)
      .map(({ entity, entity_id: id }) => ({ entity, entity_id: id })),
    age_limit: group.age_limit ?? null,
    hide_unrated_roms: group.hide_unrated_roms
  }))
}

async function view (db: Db, id: number): Promise<GroupView> {
  const [found] = await toViews(db, [await findGroup(db, id)])
  if (found === undefined) throw notFound(`Permission group with ID '${id}' not found`)
  return found
}

async function replaceGrants (db: Db, group: PermissionGroup, grants: readonly GivenGrant[]): Promise<void> {
  await db.em.nativeDelete(PermissionGrant, { group: group.id })
  const byName = new Map(grants.map((grant) => [`${grant.entity}.${grant.action}`, grant]))
  if (byName.size === 0) return
  await db.em.insertMany(PermissionGrant, [...byName.values()].map(({ entity, action, own_only: ownOnly = false }) =>
    ({ entity, action, own_only: ownOnly, group: group.id })))
}

/** Exactly one group is the default, so the former default is cleared first. */
async function makeDefault (db: Db, group: PermissionGroup): Promise<void> {
  await db.em.nativeUpdate(PermissionGroup, { is_default: true, id: { $ne: group.id } }, { is_default: false })
  group.is_default = true
}

/**
 * Runs a change of groups under a lock, because changes depend on which group is the default. Changes are rare.
 *
 * @throws ApiError BAD_REQUEST if the name is taken.
 */
async function withChange<T> (
  db: Db, name: string | null | undefined, work: (tx: Db) => Promise<T>
): Promise<T> {
  try {
    return await inTransaction(db, async (tx) => {
      await lockGroups(tx)
      return await work(tx)
    })
  } catch (err) {
    if (err instanceof UniqueConstraintViolationException) throw badRequest(`A group named '${name}' already exists; use another name`)
    throw err
  }
}

function change (group: PermissionGroup, input: UpdateGroup): void {
  if (input.is_default === false && group.is_default) {
    throw badRequest(`'${group.name}' is the default group; make another one the default instead`)
  }
  group.name = input.name ?? group.name
  group.description = input.description ?? group.description
  group.color = input.color ?? group.color ?? null
  if (input.set_age_settings !== true) return
  group.age_limit = input.age_limit ?? null
  group.hide_unrated_roms = input.hide_unrated_roms ?? false
}

export const groups = {
  list: async (db: Db) => await toViews(db, await db.em.find(PermissionGroup, {}, { orderBy: { name: 'asc' } })),

  create: (db: Db, input: CreateGroup) => withChange(db, input.name, async (tx) => {
    const group = tx.em.create(PermissionGroup, {
      name: input.name,
      description: input.description ?? '',
      color: input.color ?? null,
      age_limit: input.age_limit ?? null,
      hide_unrated_roms: input.hide_unrated_roms ?? false
    })
    await tx.em.persist(group).flush()
    await replaceGrants(tx, group, input.grants ?? [])
    if (input.is_default === true) await makeDefault(tx, group)
    await tx.em.flush()
    return await view(tx, group.id)
  }),

  /** @throws ApiError NOT_FOUND; BAD_REQUEST if the name is taken or no default group would remain. */
  async update (db: Db, id: number, input: UpdateGroup): Promise<GroupView> {
    return await withChange(db, input.name, async (tx) => {
      const group = await findGroup(tx, id)
      change(group, input)
      if (input.is_default === true && !group.is_default) await makeDefault(tx, group)
      await tx.em.flush()
      if (input.grants !== undefined && input.grants !== null) await replaceGrants(tx, group, input.grants)
      return await view(tx, id)
    })
  },

  /**
   * Deletes a group; its members move to the default group. @throws ApiError NOT_FOUND, BAD_REQUEST for the default
   * group.
   */
  async delete (db: Db, id: number): Promise<void> {
    await withChange(db, null, async (tx) => {
      const group = await findGroup(tx, id)
      if (group.is_default) throw badRequest(`'${group.name}' is the default group; make another one the default first`)
      await deleteRow(tx, PermissionGroup, id, `Group '${group.name}'`)
    })
  },

  /** Lists the users to whom a group's rules apply: its members, and for the default group the users without one. */
  async listMembers (db: Db, id: number): Promise<number[]> {
    const group = await findGroup(db, id)
    const memberCondition = {
      $or: [{ permission_group: id }, ...(group.is_default ? [{ permission_group: null }] : [])]
    }
    return (await db.em.find(User, memberCondition, { fields: ['id'] })).map((user) => user.id)
  }
}
