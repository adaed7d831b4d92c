import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { trashConfig } from './config.ts'
import { createItemDeletion } from './delete-items.ts'
import { findProblems } from './find-problems.ts'
import { openDisposal } from './move-to-trash.ts'
import { selectPage } from './rows.ts'
import type { TrashPage } from './schemas.ts'
import { toTrashView } from './views.ts'

export function createTrash (app: FastifyInstance, config: Config) {
  const { keep_days: keepDays } = trashConfig.of(config)
  return {
    ...createItemDeletion(app),

    /**
     * Opens a disposal of library files.
     *
     * @param isPermanent true if files are permanently deleted in the end, whatever the settings say
     */
    open: (isPermanent: boolean, userId: number | null) => openDisposal(app, !isPermanent && keepDays > 0, userId),

    /** Lists items, the last deleted first. */
    async list (context: Context<AnyCaller>, page: { limit: number, offset: number }): Promise<TrashPage> {
      const { items, total } = await selectPage(context, page)
      const problems = await findProblems(app.library, items)
      return { items: items.map((item) => toTrashView(item, keepDays, problems.get(item.id) ?? null)), total, ...page }
    }
  }
}
export type Trash = ReturnType<typeof createTrash>
