import { defineFeature } from '../../core/feature.ts'
import { addBackupCommands } from './commands.ts'

export default defineFeature({
  name: 'backup',
  needs: ['database', 'tasks'],
  config: () => import('./config.ts'),
  commands: addBackupCommands,
  plugin: () => import('./plugin.ts'),
  beforeUpgrade: async (upgrade) => { await (await import('./before-upgrade.ts')).backUpBeforeUpgrade(upgrade) },
  moveCluster: async (cluster) => { await (await import('./move-cluster.ts')).moveCluster(cluster) }
})
