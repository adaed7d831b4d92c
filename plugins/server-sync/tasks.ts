import type { Config } from '../../core/config/config.ts'
import { defineTask } from '../tasks/define-task.ts'
import type { TaskDefinition } from '../tasks/definitions.ts'
import { syncConfig } from './config.ts'
import type { createFolderSync } from './folders/scan.ts'
import type { ServerSync } from './service.ts'

export function definePushPull (config: Config, serverSync: ServerSync): TaskDefinition {
  const { push_pull: isOn, push_pull_cron: cron } = syncConfig.of(config)
  return defineTask({
    name: 'sync_push_pull',
    title: 'Scheduled sync of devices over SSH',
    description: 'Syncs every device of the sync mode push_pull that has an ssh_host',
    type: 'sync',
    enabled: isOn,
    cron_string: cron,
    run: ({ signal }) => serverSync.requestAll(signal)
  })
}

export function defineFolderScan (config: Config, folders: ReturnType<typeof createFolderSync>): TaskDefinition {
  const { folder_watcher: isOn } = syncConfig.of(config)
  return defineTask({
    name: 'sync_folder_scan',
    title: 'Sync Folder Scan',
    description: 'Imports save files from the folders of devices with the sync mode file_transfer',
    type: 'sync',
    enabled: isOn,
    manual_run: isOn,
    async run ({ signal, report }) { await report({ ...await folders.scan(signal) }) }
  })
}
