// Polls for new calls while the page is visible, and shows whether the service still responds.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { newestQuery, type RecordedRequest } from './requests.ts';

export type Line = 'connecting' | 'live' | 'lost';

const none: readonly RecordedRequest[] = [];

export function useLiveRequests(): { line: Line; arrived: readonly RecordedRequest[] } {
  const client = useQueryClient();
  const { data, failureCount, isPaused } = useQuery(newestQuery);
  const newest = data?.data[0]?.id;
  // Counts and groups follow when something has come.
  useEffect(() => {
    if (newest)
      for (const name of ['hours', 'groups']) void client.invalidateQueries({ queryKey: ['requests', name] });
  }, [client, newest]);
  const isLost = isPaused || failureCount > 0;
  return { line: isLost ? 'lost' : data ? 'live' : 'connecting', arrived: data?.data ?? none };
}
