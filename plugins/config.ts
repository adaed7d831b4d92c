import { AssetsSchema } from './assets/config.ts'
import { BackupSchema } from './backup/config.ts'
import { DevicesSchema } from './devices/config.ts'
import { FeedsSchema } from './feeds/config.ts'
import { ExcludeSchema, FilesystemSchema, LibrariesSchema } from './library/config.ts'
import { LogsSchema } from './logs/config.ts'
import { MailSchema } from './mail/config.ts'
import { MetricsSchema } from './metrics/config.ts'
import { OidcSchema } from './oidc/config.ts'
import { PatchesSchema } from './patches/config.ts'
import { SystemSchema } from './platforms/config.ts'
import { ResourcesSchema } from './resources/config.ts'
import { ScanSchema } from './scans/config.ts'
import { EmulatorjsSchema } from './settings/config.ts'
import { StreamingSchema } from './streaming/config.ts'
import { SyncSchema } from './server-sync/config.ts'
import { TasksSchema } from './tasks/config.ts'
import { TrashSchema } from './trash/config.ts'
import { UploadsSchema } from './uploads/config.ts'

/**
 * The sections whose changes in `config.yml` take effect at run time. Code that copies a value of them misses the
 * change.
 */
export const liveSections = {
  exclude: ExcludeSchema,
  system: SystemSchema,
  filesystem: FilesystemSchema,
  libraries: LibrariesSchema,
  scan: ScanSchema,
  emulatorjs: EmulatorjsSchema,
  streaming: StreamingSchema
}

/** The sections of the configuration that features add, in the order in which `svc config` prints them. */
export const sections = {
  ...liveSections,
  oidc: OidcSchema,
  mail: MailSchema,
  assets: AssetsSchema,
  resources: ResourcesSchema,
  devices: DevicesSchema,
  patches: PatchesSchema,
  feeds: FeedsSchema,
  logs: LogsSchema,
  metrics: MetricsSchema,
  uploads: UploadsSchema,
  trash: TrashSchema,
  sync: SyncSchema,
  tasks: TasksSchema,
  backup: BackupSchema
}
