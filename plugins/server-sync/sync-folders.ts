import { join, resolve } from 'node:path'
import type { Config } from '../../core/config/config.ts'

/** Where devices of the sync mode `file_transfer` have their folders. */
export const syncFolder = ({ sync, data_dir: data }: Config): string =>
  sync.folder === '' ? join(data, 'sync') : resolve(sync.folder)

export const keysFolder = (config: Config): string =>
  config.sync.ssh_keys_path === '' ? join(syncFolder(config), 'keys') : resolve(config.sync.ssh_keys_path)

export const knownHostsFile = (config: Config): string =>
  config.sync.ssh_known_hosts_path === '' ? join(syncFolder(config), 'known_hosts') : resolve(config.sync.ssh_known_hosts_path)
