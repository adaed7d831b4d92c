import { Type } from '@sinclair/typebox'
import type { Config } from '../../core/config/config.ts'
import type { TaskDefinition } from '../tasks/definitions.ts'
import { syncConfig } from './config.ts'
import type { createFolderSync } from './folders/scan.ts'
import type { ServerSync } from './service.ts'

const NO_ARGUMENTS = Type.Object({}, { additionalProperties: false })
export const FOLDER_TASK = 'sync_folder_scan'

export function definePushPull (config: Config, serverSync: ServerSync): TaskDefinition {
  const { push_pull: isOn, push_pull_cron: cron } = syncConfig.of(config)
  return {
    name: 'sync_push_pull',
    title: 'Scheduled sync of devices over SSH',
    description: 'Syncs every device of the sync mode push_pull that has an ssh_host',
    type: 'sync',
    group: 'scheduled',
    enabled: isOn,
    manual_run: true,
    cron_string: cron,
    destructive: false,
    isSingle: true,
    arguments: NO_ARGUMENTS,
    run: ({ signal }) => serverSync.requestAll(signal)
  }
}

export function defineFolderScan (config: Config, folders: ReturnType<typeof createFolderSync>): TaskDefinition {
  const { folder_watcher: isOn } = syncConfig.of(config)
  return {
    name: FOLDER_TASK,
    title: 'Sync Folder Scan',
    description: 'Imports save files from the folders of devices with the sync mode file_transfer',
    type: 'sync',
    group: 'manual',
    enabled: isOn,
    manual_run: isOn,
    cron_string: '',
    destructive: false,
    isSingle: true,
    arguments: NO_ARGUMENTS,
    async run ({ signal, report }) { await report({ ...await folders.scan(signal) }) }
  }
}
