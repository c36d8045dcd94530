/**
 * The codes, types, states and reasons that vendors document for their errors. Our log contains only these: any other value in
 * such a field may be anything, including a client's text.
 */
const errorNames: ReadonlySet<string> = new Set(
  `
  aborted access_terminated access_token_type_unsupported account_deactivated api_error api_key_invalid
  api_key_ip_address_blocked api_key_service_blocked array_above_max_length arrearage authentication_error bad_request
  badrequest badrequesterror billing_disabled billing_error billing_hard_limit_reached billing_not_active cancelled
  capacity_exceeded consumer_invalid consumer_suspended content_filter content_policy_violation
  context_length_exceeded credentials_missing credit_limit data_inspection_failed deadline_exceeded deploymentnotfound
  engine_overloaded_error exceeded_current_quota_error extra_forbidden failed_precondition forbidden
  incorrect_api_key_error insufficient_balance insufficient_credits insufficient_quota internal internal_error
  internal_server_error internalservererror invalid_api_key invalid_argument invalid_authentication_error
  invalid_model invalid_parameter_error invalid_prompt invalid_request invalid_request_body invalid_request_error
  invalid_type invalid_value ip_not_authorized json_validate_failed limit_requests missing_required_parameter
  model_capacity_exhausted model_decommissioned model_not_available model_not_found model_not_supported
  model_rate_limit not_enough_balance not_found not_found_error notfounderror out_of_range overloaded_error
  permission_denied permission_error precondition_failed queue_exceeded rate_limit_error rate_limit_exceeded
  rate_limit_reached_error rate_limited ratelimitreached request_forbidden request_quota_exceeded
  request_rate_limit_exceeded request_too_large requests resource_exhausted resource_not_found_error
  responsibleaipolicyviolation server_error server_is_overloaded server_overloaded service_disabled
  service_not_available service_tier_capacity_exceeded service_unavailable service_unavailable_error
  string_above_max_length throttling throttlingexception timeout_error token_quota_exceeded tokens
  tokens_limit_reached too_many_requests too_many_requests_error tool_use_failed unauthenticated unavailable
  unimplemented unknown unknown_error unknown_parameter unreachable_backend unsupported_country_region_territory
  unsupported_model unsupported_parameter unsupported_value wrong_api_key
`
    .trim()
    .split(/\s+/),
);

/** Vendors' error numbers have at most five digits. */
export function isErrorName(word: string): boolean {
  return errorNames.has(word) || /^\d{1,5}$/.test(word);
}
