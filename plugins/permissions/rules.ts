import type { Db } from '../../core/database/db.ts'
import { badRequest } from '../../core/errors.ts'
import { inTransaction } from '../../core/database/transaction.ts'
import { getUser } from '../users/get-user.ts'
import { HIDEABLE_ENTITIES, HiddenEntity, PermissionOverride } from './entities.ts'
import { findGroup } from './groups.ts'
import { insertHidden, lockGroups } from './rows.ts'
import type { HiddenView, Hide, UpdateUserRules, UserRulesView } from './schemas.ts'

async function view (db: Db, id: number): Promise<UserRulesView> {
  const user = await getUser(db, id)
  const overrides = await db.em.find(PermissionOverride, { user: id }, { orderBy: { entity: 'asc', action: 'asc' } })
  const hidden = await db.em.find(HiddenEntity, { user: id }, { orderBy: { entity: 'asc', entity_id: 'asc' } })
  return {
    user_id: id,
    permission_group_id: user.permission_group?.id ?? null,
    overrides: overrides.map(({ entity, action, granted, own_only: ownOnly }) =>
      ({ entity, action, granted, own_only: ownOnly })),
    hidden: hidden.map(({ entity, entity_id: entityId }) => ({ entity, entity_id: entityId })),
    age_limit: user.age_limit ?? null,
    hide_unrated_roms: user.hide_unrated_roms ?? null
  }
}

interface Principal { user: number | null, group: number | null }

/** @throws ApiError BAD_REQUEST for an invalid entity or principal, NOT_FOUND for one that does not exist. */
async function readHide (db: Db, input: Hide): Promise<{ object: HiddenView, principal: Principal }> {
  const entity = HIDEABLE_ENTITIES.find((one) => one === input.entity)
  if (entity === undefined) {
    throw badRequest(`'${input.entity.slice(0, 50)}' cannot be hidden; entity is one of ${HIDEABLE_ENTITIES.join(', ')}`)
  }
  const principal = { user: input.user_id ?? null, group: input.group_id ?? null }
  if ((principal.user === null) === (principal.group === null)) throw badRequest('Give exactly one of user_id and group_id')
  if (principal.user !== null) await getUser(db, principal.user)
  if (principal.group !== null) await findGroup(db, principal.group)
  return { object: { entity, entity_id: input.entity_id }, principal }
}

export const rules = {
  view,

  /** @throws ApiError NOT_FOUND if the user or the group does not exist. */
  async update (db: Db, id: number, input: UpdateUserRules): Promise<UserRulesView> {
    return await inTransaction(db, async (tx) => {
      // Without the lock, two requests at once would store the rules of both.
      await lockGroups(tx)
      const user = await getUser(tx, id)
      if (input.set_group === true) {
        const groupId = input.permission_group_id ?? null
        user.permission_group = groupId === null ? null : await findGroup(tx, groupId)
      }
      if (input.set_age_settings === true) {
        user.age_limit = input.age_limit ?? null
        user.hide_unrated_roms = input.hide_unrated_roms ?? null
      }
      if (input.overrides !== undefined && input.overrides !== null) {
        await tx.em.nativeDelete(PermissionOverride, { user: id })
        const byName = new Map(input.overrides.map((one) => [`${one.entity}.${one.action}`, one]))
        for (const { entity, action, granted, own_only: ownOnly = false } of byName.values()) {
          tx.em.create(PermissionOverride, { entity, action, granted, own_only: ownOnly, user })
        }
      }
      await tx.em.flush()
      return await view(tx, id)
    })
  },

  /** Hides an object from a user or a group. Repeating it has no effect. */
  async hide (db: Db, input: Hide): Promise<HiddenView & Principal> {
    const { object, principal } = await readHide(db, input)
    await insertHidden(db, object, principal)
    return { ...object, ...principal }
  },

  async unhide (db: Db, input: Hide): Promise<Principal> {
    const { object, principal } = await readHide(db, input)
    await db.em.nativeDelete(HiddenEntity, { ...object, ...principal })
    return principal
  }
}
