import type { FastifyInstance } from 'fastify'
import type { TrashedItem } from './rows.ts'
import { isBack, isInTrash } from './trash-folders.ts'

/** Returns the reason why each item cannot be restored now. */
export async function findProblems (
  library: FastifyInstance['library'], items: readonly TrashedItem[]
): Promise<Map<number, string | null>> {
  const states = new Map((await library.checkLibraries()).map((state) => [state.root.id, state]))
  async function problemOf (item: TrashedItem): Promise<string | null> {
    const state = states.get(item.library_id)
    if (state === undefined) return `the library with ID ${item.library_id} is not configured`
    if (state.problem !== null) return `the library '${state.root.name}' is not mounted: ${state.problem}`
    const { dir } = state.root
    return await isInTrash(dir, item) || await isBack(dir, item) ? null : 'it is not in the trash any more'
  }
  return new Map(await Promise.all(items.map(async (item) => [item.id, await problemOf(item)] as const)))
}
