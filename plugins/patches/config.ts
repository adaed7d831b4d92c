import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Section } from '../../core/config/setting.ts'

export const patchesConfig = defineSection('patches', Section({
  max_file_size_bytes: Type.Integer({
    default: 4_294_967_296,
    minimum: 1,
    env: 'ROM_PATCHER_MAX_FILE_SIZE_BYTES',
    description: 'Maximum size in bytes of a base file, a patch, and a patched file'
  }),
  timeout_seconds: Type.Integer({
    default: 120, minimum: 1, maximum: 3600, env: 'ROM_PATCHER_TIMEOUT', description: 'Maximum time to apply one patch, in seconds'
  }),
  max_concurrency: Type.Integer({
    default: 2,
    minimum: 1,
    maximum: 64,
    env: 'ROM_PATCHER_MAX_CONCURRENCY',
    description: 'Maximum number of patches that each web worker applies at once; further ones wait'
  })
}, 'Patches'))
