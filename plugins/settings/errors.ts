import { defineError } from '../../core/errors.ts'

/** The server may not change `config.yml`. */
export const configNotWritable = defineError('CONFIG_NOT_WRITABLE', 500, 'Config file is not writable. Check config.yml permissions')
