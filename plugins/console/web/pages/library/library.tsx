import download from 'lucide/dist/esm/icons/download.mjs'
import { useActions } from '../../api/permissions.ts'
import { usePlatforms } from '../../api/platforms.ts'
import { cache } from '../../api/resource.ts'
import { texts } from '../../i18n/language.ts'
import { useTitle } from '../../navigate.ts'
import { LinkButton } from '../../ui/button.tsx'
import { NotFound } from '../errors/errors.tsx'
import { Failed } from '../../ui/state.tsx'
import { EmptyLibrary } from '../upload/empty-library.tsx'
import { GameList } from './game-list.tsx'

/** The games of the whole library, or of one platform. */
export default function Library ({ slug }: { slug?: string }) {
  const { library } = texts()
  const actions = useActions()
  const { data: { value: platforms }, failure: { value: failure } } = usePlatforms()
  const platform = slug === undefined ? null : platforms?.find((one) => one.slug === slug)
  const title = slug === undefined ? library.all : platform?.display_name
  useTitle(title)
  if (slug !== undefined && platforms !== undefined && platform === undefined) return <NotFound />
  if (title === undefined) return failure === null ? null : <Failed failure={failure} onRetry={() => { cache.invalidate('platforms') }} />
  const mayDownload = platform != null && platform.rom_count > 0 && actions.has('rom.download')
  return (
    <GameList
      title={title} scope={platform == null ? {} : { platform_ids: [platform.id] }}
      empty={slug === undefined ? <EmptyLibrary /> : undefined}
      head={mayDownload && (
        <LinkButton isSmall kind='quiet' icon={download} target='_top' href={`api/roms/download?platform_id=${platform.id}`}>
          {library.downloadPlatform}
        </LinkButton>
      )}
    />
  )
}
