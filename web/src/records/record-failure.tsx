// Replaces the page of a record that is unknown or could not be loaded.
import { toApiError } from '../api/client.ts';
import { type Definition, nounOf, pluralOf } from '../api/definitions.ts';
import { FailureNote, NotFoundPage } from '../frame/failure.tsx';
import { PageHead } from '../frame/page-head.tsx';

interface RecordFailureProps {
  definition: Definition;
  error: unknown;
  onRetry: () => void;
}

export function RecordFailure({ definition, error, onRetry }: RecordFailureProps) {
  if (toApiError(error).status === 404) return <NotFoundPage />;
  return (
    <>
      <PageHead
        title={nounOf(definition)}
        trail={[{ title: pluralOf(definition), to: `/data/${definition.collection}` }]}
      />
      <FailureNote error={error} onRetry={onRetry} />
    </>
  );
}
