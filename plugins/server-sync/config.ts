import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Formatted, Path, Section, Switch } from '../../core/config/setting.ts'

export const syncConfig = defineSection('sync', Section({
  folder: Path('new-folder', {
    default: '',
    env: 'SYNC_BASE_PATH',
    description: 'Folder in which devices of the sync mode file_transfer exchange saves; empty for sync in the data folder'
  }),
  push_pull: Switch('ENABLE_SYNC_PUSH_PULL', 'Syncs all devices that have an ssh_host over SSH on a schedule'),
  push_pull_cron: Formatted('cron', {
    default: '*/30 * * * *', env: 'SYNC_PUSH_PULL_CRON', description: 'Schedule of these syncs, in UTC'
  }),
  folder_watcher: Switch('ENABLE_SYNC_FOLDER_WATCHER', 'Imports the saves that devices store in their folder incoming'),
  folder_scan_delay: Type.Number({
    default: 2,
    minimum: 0.005,
    maximum: 1440,
    env: 'SYNC_FOLDER_SCAN_DELAY',
    description: 'Minutes without a further change before the folder is scanned; fractions are allowed'
  }),
  ssh_keys_path: Path('folder', {
    default: '',
    env: 'SYNC_SSH_KEYS_PATH',
    description: 'Folder of private keys: <device_id>.pem for each device, or the file in ssh_key_path; empty for keys in the folder'
  }),
  ssh_known_hosts_path: Path('file', {
    default: '',
    env: 'SYNC_SSH_KNOWN_HOSTS_PATH',
    description: 'File of host keys in OpenSSH format: a host in it must present one of its keys; empty for known_hosts in the folder'
  }),
  ssh_networks: Type.Array(Formatted('network'), {
    default: [],
    env: 'SYNC_SSH_NETWORKS',
    description: "Networks such as 192.168.1.0/24 for hosts of users' devices, besides the public internet; administrators may use any host"
  })
}, 'Sync by the server itself'))
