import { defineFeature } from '../../core/feature.ts'

export default defineFeature({
  name: 'backup',
  needs: ['database', 'tasks'],
  config: () => import('./config.ts'),
  commands: async () => (await import('./commands.ts')).addBackupCommands,
  plugin: () => import('./plugin.ts'),
  async prepare (upgrade) {
    await (await import('./abandoned-check.ts')).deleteAbandonedCheck(upgrade)
    return false
  },
  beforeUpgrade: async (upgrade) => { await (await import('./before-upgrade.ts')).backUpBeforeUpgrade(upgrade) },
  moveCluster: async (cluster) => { await (await import('./move-cluster.ts')).moveCluster(cluster) }
})
