import { join, resolve } from 'node:path'
import type { Config } from '../../core/config/config.ts'

/** Returns the folder with the folders of `file_transfer` devices. */
export const syncFolder = ({ sync, data_dir: data }: Config): string =>
  sync.folder === '' ? join(data, 'sync') : resolve(sync.folder)

export const keysFolder = (config: Config): string =>
  config.sync.ssh_keys_path === '' ? join(syncFolder(config), 'keys') : resolve(config.sync.ssh_keys_path)

export const knownHostsFile = (config: Config): string =>
  config.sync.ssh_known_hosts_path === '' ? join(syncFolder(config), 'known_hosts') : resolve(config.sync.ssh_known_hosts_path)
