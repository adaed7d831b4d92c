import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { type Disposal, openDisposal } from './disposal.ts'
import { defineEmptyTrash } from './empty-trash.ts'

declare module 'fastify' {
  interface FastifyInstance {
    trash: {
      /** @param isPermanent whether what is taken shall be gone for good in the end, whatever the settings say */
      open (isPermanent: boolean): Disposal
    }
  }
}

export default fp<FeatureOptions>(async (app, { config }) => {
  const { keep_days: days } = config.trash
  app.decorate('trash', { open: (isPermanent: boolean) => openDisposal(app.library, !isPermanent && days > 0) })
  app.tasks.define(defineEmptyTrash(app, config))
}, { name: 'trash', dependencies: ['library', 'tasks'] })
