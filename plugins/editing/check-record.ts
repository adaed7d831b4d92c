import { ValueErrorType } from '@sinclair/typebox/errors'
import { describeType } from '../../core/config/describe-type.ts'
import { invalid } from '../../core/errors.ts'
import { findMetadataProblems } from '../matching/check-match.ts'
import type { RomProviders } from '../roms/providers.ts'
import type { CheckRecord } from './edited-matches.ts'

/** Maximum number of characters of a wrong value in an error. */
const SHOWN_MAX = 100

/** Creates the check of records that people write. Missing and further fields are no error, because apps send both. */
export const createRecordCheck = ({ byKey }: RomProviders): CheckRecord => (key, record) => {
  for (const { type, path, value, schema } of findMetadataProblems(record, byKey.get(key)?.metadata)) {
    if (type === ValueErrorType.ObjectAdditionalProperties) continue
    const loc = [`raw_${key}_metadata`, ...path.split('/').slice(1)]
    throw invalid(['body', ...loc],
      `${loc.join('.')} is ${JSON.stringify(value)?.slice(0, SHOWN_MAX) ?? 'missing'}; send ${describeType(schema)}`, value)
  }
}
