import type { FastifyInstance } from 'fastify'
import type { Tagger } from './tags/tagger.ts'

/** The services of this feature's functions: the server, the tag reader, and the folder where manuals arrive. */
export interface RomFileServices {
  app: FastifyInstance
  tagger: Tagger
  resourcesDir: string
}
