import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Path, Section } from '../../core/config/setting.ts'

export const datsConfig = defineSection('dats', Section({
  dir: Type.Optional(Path('new-folder', { env: 'SVC_DATS_DIR', description: 'Folder with DAT files; default `dats` in the data directory' })),
  max_upload_bytes: Type.Integer({
    default: 1024 ** 3, minimum: 1, env: 'MAX_DAT_UPLOAD_SIZE_BYTES', description: 'Maximum size in bytes of an uploaded DAT file or archive of DATs'
  })
}, 'DAT files'))
