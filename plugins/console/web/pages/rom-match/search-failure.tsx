import type { Failure } from '../../api/failure.ts'
import { isAdministrator } from '../../api/session.ts'
import { texts } from '../../i18n/language.ts'
import { Notice } from '../../ui/state.tsx'

/** The status with which the server says that no provider can be searched. Other clients rely on it. */
const NO_PROVIDER = 500

/** The reason why a search at providers failed, with the way to a provider if there is none. */
export function SearchFailure ({ failure }: { failure: Failure }) {
  const { match: words } = texts().rom
  if (failure.status !== NO_PROVIDER) return <Notice kind='failure'>{failure.message}</Notice>
  return <Notice kind='warning'>{words.noProvider} {isAdministrator() && <a href='setup/providers'>{words.setUp}</a>}</Notice>
}
