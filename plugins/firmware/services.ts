import type { FastifyInstance } from 'fastify'
import type { Caller } from '../../core/access/auth.ts'
import type { FirmwareFolders } from './folder.ts'

export type FirmwareCaller = Pick<Caller, 'id' | 'access'>

/** The services that read and change firmware. */
export interface FirmwareServices {
  library: FastifyInstance['library']
  folders: FirmwareFolders
  /** The condition that a caller sees a platform. */
  isVisible: FastifyInstance['platforms']['isVisible']
  /** Changes files and their rows together. Another change meanwhile would leave rows that describe other files. */
  runAlone: <T>(work: () => Promise<T>) => Promise<T>
}
