-- Figures over all tenants for the operator's monitoring. They name no tenant.
CREATE FUNCTION service_figures()
  RETURNS TABLE (journal_entries numeric, webhook_queue numeric, webhook_oldest_seconds double precision)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
  SELECT (SELECT coalesce(sum(last_position), 0) FROM journal_head), waiting.entries, waiting.oldest
  FROM (
    SELECT coalesce(sum(head.last_position - webhook.last_position), 0) AS entries,
      coalesce(extract(epoch FROM now() - min(entry.at)), 0)::double precision AS oldest
    FROM webhook JOIN journal_head AS head ON head.tenant_id = webhook.tenant_id
    LEFT JOIN journal AS entry
      ON entry.tenant_id = webhook.tenant_id AND entry.position = webhook.last_position + 1
    WHERE webhook.paused_at IS NULL AND head.last_position > webhook.last_position
  ) AS waiting
$$;

REVOKE ALL ON FUNCTION service_figures FROM PUBLIC;
GRANT EXECUTE ON FUNCTION service_figures TO stamm_service;
