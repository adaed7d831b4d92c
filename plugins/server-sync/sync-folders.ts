import { join, resolve } from 'node:path'
import type { Config } from '../../core/config/config.ts'
import { syncConfig } from './config.ts'

/** Returns the folder with the folders of `file_transfer` devices. */
export function syncFolder (config: Config): string {
  const { folder } = syncConfig.of(config)
  return folder === '' ? join(config.data_dir, 'sync') : resolve(folder)
}

export function keysFolder (config: Config): string {
  const { ssh_keys_path: path } = syncConfig.of(config)
  return path === '' ? join(syncFolder(config), 'keys') : resolve(path)
}

export function knownHostsFile (config: Config): string {
  const { ssh_known_hosts_path: path } = syncConfig.of(config)
  return path === '' ? join(syncFolder(config), 'known_hosts') : resolve(path)
}
