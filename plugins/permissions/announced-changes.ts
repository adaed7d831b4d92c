import type { Db } from '../../core/database/db.ts'
import { groups } from './groups.ts'
import { rules } from './rules.ts'
import type {
  CreateGroup, GroupView, HiddenView, Hide, UpdateGroup, UpdateUserRules, UserRulesView
} from './schemas.ts'

/** Returns the users whom a rule concerns, of one user or of a group. */
async function membersOf (db: Db, { user, group }: { user: number | null, group: number | null }) {
  if (user !== null) return [user]
  return group === null ? [] : await groups.listMembers(db, group)
}

/** Creates the changes of groups and rules. Each notifies the clients of the users whom it concerns. */
export function createAnnouncedChanges (announce: (userIds: readonly number[]) => void) {
  return {
    async createGroup (db: Db, input: CreateGroup): Promise<GroupView> {
      const group = await groups.create(db, input)
      if (group.is_default) announce(await groups.listMembers(db, group.id))
      return group
    },

    async updateGroup (db: Db, id: number, input: UpdateGroup): Promise<GroupView> {
      const before = await groups.listMembers(db, id)
      const group = await groups.update(db, id, input)
      announce([...new Set([...before, ...await groups.listMembers(db, id)])])
      return group
    },

    async deleteGroup (db: Db, id: number): Promise<void> {
      const members = await groups.listMembers(db, id)
      await groups.delete(db, id)
      announce(members)
    },

    async updateRules (db: Db, userId: number, input: UpdateUserRules): Promise<UserRulesView> {
      const view = await rules.update(db, userId, input)
      announce([userId])
      return view
    },

    async hide (db: Db, input: Hide): Promise<HiddenView> {
      const { entity, entity_id: entityId, ...whom } = await rules.hide(db, input)
      announce(await membersOf(db, whom))
      return { entity, entity_id: entityId }
    },

    async unhide (db: Db, input: Hide): Promise<void> {
      announce(await membersOf(db, await rules.unhide(db, input)))
    }
  }
}
