import { AssetsSchema } from './assets/config.ts'
import { DevicesSchema } from './devices/config.ts'
import { ExcludeSchema, FilesystemSchema } from './library/config.ts'
import { MailSchema } from './mail/config.ts'
import { OidcSchema } from './oidc/config.ts'
import { SystemSchema } from './platforms/config.ts'
import { ResourcesSchema } from './resources/config.ts'
import { ScanSchema } from './scans/config.ts'
import { TasksSchema } from './tasks/config.ts'

/** The sections of the configuration that features bring, in the order `svc config` prints them. */
export const sections = {
  exclude: ExcludeSchema,
  system: SystemSchema,
  filesystem: FilesystemSchema,
  oidc: OidcSchema,
  mail: MailSchema,
  scan: ScanSchema,
  assets: AssetsSchema,
  resources: ResourcesSchema,
  devices: DevicesSchema,
  tasks: TasksSchema
}
